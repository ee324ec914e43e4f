/** The extension of A2A by which a client sees generations, expiry and delivery of its tasks (A2A 1.0, section 4.6). */
export const mailboxExtension = 'urn:agent-messaging-service:a2a:mailbox:1';

/** The base address of an agent: its JSON-RPC interface, and the prefix of its HTTP+JSON interface. */
export function a2aBaseUrl(public_url: string, canonical_handle: string): string {
  return `${public_url}/a2a/${canonical_handle.replace('.', '/')}`;
}

/** The address of the A2A card of an agent. */
export function a2aCardUrl(public_url: string, canonical_handle: string): string {
  return `${a2aBaseUrl(public_url, canonical_handle)}/.well-known/agent-card.json`;
}

/** Calls of one agent that wait for a task, in one process. */
export const maxWaitingCalls = 64;

/** The lifetime of the address of a file, in milliseconds. */
export const fileAddressLifetimeMs = 3_600_000;

/** A message of a client as it was received, without the bytes of its files (A2A 1.0, section 4.1.4). A file is known by its place among them. */
export interface ReceivedMessage {
  parts: readonly ReceivedPart[];
  metadata?: Record<string, unknown> | undefined;
  extensions?: readonly string[] | undefined;
  referenceTaskIds?: readonly string[] | undefined;
}

/** One of `text`, `raw`, `url` and `data`. */
export interface ReceivedPart {
  text?: string | undefined;
  /** Empty: the bytes are an attachment of the message. */
  raw?: string | undefined;
  url?: string | undefined;
  data?: unknown;
  metadata?: Record<string, unknown> | undefined;
  filename?: string | undefined;
  mediaType?: string | undefined;
}
