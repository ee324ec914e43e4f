/** Close codes in use (RFC 6455, section 7.4); 4008 is our own. */
export const closeCodes = {
  going_away: 1001,
  policy: 1008,
  internal: 1011,
  slow_reader: 4008,
} as const;

export interface WebSocketLimits {
  /** Maximum client frame, in bytes. A larger one closes the connection with 1009. */
  frame_bytes: number;
  /** Maximum client frames per second, without the calls that are started. More close the connection with 1008. */
  frames_per_second: number;
  /** Maximum calls in flight on a connection. A further call is refused. */
  calls: number;
  /** Maximum threads that a connection can subscribe to. */
  subscriptions: number;
  /** With more unsent bytes than this, no more events are read for the connection. */
  buffered_bytes: number;
  /** A connection that has more unsent bytes than this, and again `unsent_ms` later, is closed with 4008. */
  unsent_bytes: number;
  unsent_ms: number;
  /** How long a connection may stay above `buffered_bytes` before it is closed with 4008, in milliseconds. */
  drain_ms: number;
  /** Milliseconds between two protocol pings. A connection that leaves two unanswered is cut. */
  ping_ms: number;
  /** How long the client may take to answer a close frame, in milliseconds. */
  close_ms: number;
  /** How long closing all connections at shutdown takes, in milliseconds: clients then do not reconnect all at once. */
  spread_ms: number;
  /** How long the process waits for calls in flight before it closes connections, and then for answers before it cuts the rest (ms). */
  close_wait_ms: number;
}

export const defaultLimits: WebSocketLimits = {
  // As the body of a request.
  frame_bytes: 256 * 1024,
  frames_per_second: 100,
  calls: 64,
  subscriptions: 1_000,
  buffered_bytes: 256 * 1024,
  unsent_bytes: 64 * 1024 * 1024,
  unsent_ms: 5_000,
  drain_ms: 30_000,
  ping_ms: 30_000,
  close_ms: 5_000,
  spread_ms: 1_000,
  close_wait_ms: 1_000,
};
