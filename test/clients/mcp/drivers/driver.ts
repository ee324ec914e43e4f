import type { CallResult } from '../eliciting-client.ts';

/** A client that calls tools. */
export interface ToolDriver {
  /** Names of the tools that the client lists. */
  tools(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>): Promise<CallResult>;
  close(): Promise<void>;
}

/** One way of being an MCP client. */
export interface Driver extends ToolDriver {
  /** The JSON of a resource. */
  read(uri: string): Promise<unknown>;
  /** Methods of the service's notifications that came by themselves; absent for a client that keeps no stream open. */
  notified?(): readonly string[];
}

export interface Access {
  url: string;
  token: string;
  /** The person behind the client, for one that can show a form: agrees, and notes what was asked. */
  onElicitation(question: string): void;
}

export type Connect = (access: Access) => Promise<Driver>;
export type ConnectTools = (access: Access) => Promise<ToolDriver>;

/** What a person who agrees fills in. */
export const acceptedElicitation = { action: 'accept' as const, content: { approve: true } };
