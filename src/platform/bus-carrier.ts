import type { ErrorLog } from './error-log.ts';

/** What carries the payloads of the bus to every process that listens, this one among them. */
export interface BusCarrier {
  /** Sends payloads in their order. Rejects as `Bus.publish` does. */
  send(payloads: readonly string[]): Promise<void>;
  healthy(): boolean;
  close(): Promise<void>;
}

export interface BusCarrierOptions {
  url: string;
  channel: string;
  hear(payload: string): void;
  log: ErrorLog;
}
