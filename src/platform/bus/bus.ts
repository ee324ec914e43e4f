import type { ErrorLog } from '../../shared/error-log.ts';

/** One message on the bus. Topics: `rings` (whose feeds have grown), `tokens` (revocations), `node/<id>` (answers for one process). */
export interface BusMessage {
  topic: string;
  /** At most 4 KB: the bus rings, it does not carry letters. */
  body: string;
}

export type BusHandler = (body: string, topic: string) => void;

/**
 * Wake-up calls between processes. Nothing is stored: whoever does not listen, or whose connection is down, misses the call
 * and finds out from the database. Two adapters: Redis pub/sub and PostgreSQL LISTEN/NOTIFY.
 */
export interface Bus {
  /** Sends all messages in one round trip. Rejects at once when the connection is down, after two seconds when it hangs. */
  publish(messages: readonly BusMessage[]): Promise<void>;
  /**
   * Resolves when the subscription stands; several handlers of one topic share it. The answer ends this handler's part.
   * While the connection is down both resolve at once: what is subscribed then stands before `healthy` is true again.
   */
  subscribe(topic: string, handler: BusHandler): Promise<() => Promise<void>>;
  /** False while rings may be lost; readers poll more often then. */
  isHealthy(): boolean;
  close(): Promise<void>;
}

/** What carries the payloads of the bus to every process that listens, this one among them. */
export interface BusConnection {
  /** Sends payloads in their order. Rejects as `Bus.publish` does. */
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
