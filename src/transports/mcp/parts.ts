import type { Operation } from '../../operations/define.ts';
import type { Execute } from '../../operations/execute/execute.ts';
import type { Realtime } from '../../realtime/contract.ts';
import type { Tokens } from '../../services/auth/tokens.ts';
import type { Additions } from './additions.ts';
import type { McpBus } from './protocol/bus.ts';
import type { SessionStore } from './sessions/sessions.ts';

export interface McpLogger {
  debug(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What the tool server is made of; everything comes by argument. */
export interface McpParts {
  execute: Execute;
  catalogue: readonly Operation[];
  tokens: Tokens;
  realtime: Realtime;
  sessions: SessionStore;
  /** Carries answers and cancellations of clients to the process that they are for. */
  bus: McpBus;
  /** Without a trailing slash. */
  public_url: string;
  /** Host names, with or without a port, that requests may name besides the one of `public_url` and the loopback names. */
  allowed_hosts: readonly string[];
  logger: McpLogger;
  /** Of this service, as told to clients. */
  version: string;
  /** None, unless a judge of the protocol asks. */
  additions?: Additions | undefined;
  /** How long the JSON of one tool result or resource may be, in bytes. Default 60,000. */
  result_bytes?: number;
  /** Time between two signs of life on an SSE stream, in ms. Default 15,000. */
  heartbeat_ms?: number;
  /** Time between two reports of a call that waits, in ms. Default 5,000. */
  progress_ms?: number;
  /** Told when a stream is given up because its reader does not read. */
  onSlowReader?: () => void;
  /** How long a call waits for a person's decision, in ms. Default 300,000. */
  approval_ms?: number;
}
