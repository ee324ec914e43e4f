import type { ReceivedEvent } from '../event.ts';
import type { Agent } from '../load/population.ts';

export interface Connection {
  base: string;
  agent: Agent;
  /** The cursor of the last event that was received. */
  cursor: string;
  onEvent(event: ReceivedEvent & { cursor: string }): void;
  /** Called with a description of what the service did wrong. */
  onComplaint(what: string): void;
  signal: AbortSignal;
}

/** Runs one connection over one transport until it ends for any reason. Never rejects. */
export type Transport = (connection: Connection) => Promise<void>;
