import type { ErrorLog } from '../../shared/error-log.ts';

/**
 * One message on the bus. Topics: `wakeups` (wake-ups of feeds), `events/<release>` (small events with their entries), `inbox` (items that may
 * be ready), `tokens` (revocations), `node/<id>` (replies to one process).
 */
export interface BusMessage {
  topic: string;
  /** With the topic below 8,000 bytes of UTF-8. */
  body: string;
}

export type BusHandler = (body: string, topic: string) => void;

/**
 * Wake-ups between processes. Nothing is stored: a process that misses a message reads the database later. Two adapters: Redis pub/sub and
 * PostgreSQL LISTEN/NOTIFY.
 */
export interface Bus {
  /** Sends all messages in one round trip. Rejects at once without a connection, and after two seconds without a response. */
  publish(messages: readonly BusMessage[]): Promise<void>;
  /** Returns what removes the handler. It receives messages whenever the bus is healthy. */
  subscribe(topic: string, handler: BusHandler): () => void;
  /** False while wake-ups can be lost; readers poll more often then. */
  isHealthy(): boolean;
  close(): Promise<void>;
}

/** The connection that sends payloads to every listening process, including this one. */
export interface BusConnection {
  /** Sends payloads in order. Rejects as `Bus.publish` does. */
  send(payloads: readonly string[]): Promise<void>;
  isHealthy(): boolean;
  close(): Promise<void>;
}

export interface BusConnectionOptions {
  url: string;
  channel: string;
  onPayload(payload: string): void;
  log: ErrorLog;
}
