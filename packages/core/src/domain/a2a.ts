/** The extension of A2A by which a client sees generations, expiry and delivery of its tasks (A2A 1.0, section 4.6). */
export const mailboxExtension = 'urn:agent-messaging-service:a2a:mailbox:1';

/** Calls of one agent that wait for a task, in one process. */
export const maxWaitingCalls = 64;

/** The lifetime of the address of a file, in milliseconds. */
export const fileAddressLifetimeMs = 3_600_000;
