/** Close codes in use (RFC 6455, section 7.4); 4008 is of the contract. */
export const closeCodes = {
  going_away: 1001,
  policy: 1008,
  too_large: 1009,
  internal: 1011,
  slow_reader: 4008,
} as const;

export interface WebSocketLimits {
  /** Largest client frame, in bytes; beyond it the connection ends with 1009. */
  frame_bytes: number;
  /** Client frames in one second; beyond it the connection ends with 1008. */
  frames_per_second: number;
  /** Threads that one connection may name. */
  subscriptions: number;
  /** Above this many bytes unsent nothing more is read for the connection. */
  buffered_bytes: number;
  /** How long a connection may stay above that before it ends with 4008, in milliseconds. */
  drain_ms: number;
  /** Milliseconds between two protocol pings; a connection that leaves two of them unanswered is cut. */
  ping_ms: number;
  /** How long the other side may take to answer a close, in milliseconds. */
  close_ms: number;
  /** Over how many milliseconds a stopping process spreads its closes. */
  spread_ms: number;
  /** How long after its last close a stopping process waits for answers before it cuts who gave none, in milliseconds. */
  close_wait_ms: number;
}

export const defaultLimits: WebSocketLimits = {
  frame_bytes: 64 * 1024,
  frames_per_second: 100,
  subscriptions: 1_000,
  buffered_bytes: 256 * 1024,
  drain_ms: 30_000,
  ping_ms: 30_000,
  close_ms: 5_000,
  spread_ms: 1_000,
  close_wait_ms: 1_000,
};
