import type { ErrorLog } from '../../shared/error-log.ts';

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
