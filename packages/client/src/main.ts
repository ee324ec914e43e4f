// What programs import: @agent-messaging/client. Browsers load it, too.
export { createClient } from './client.ts';
export type { Client, ClientOptions } from './client.ts';
export type { AskOptions, AskTarget, Reply } from './ask.ts';
export type { Download, UploadOptions, UploadSource } from './attachments.ts';
export type { CallOptions, List } from './calls/types.ts';
export {
  AgentMessagingError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  ApprovalRequiredError,
  PermissionError,
  RateLimitError,
  UnavailableError,
  ValidationError,
} from './errors.ts';
export type { FieldError } from './errors.ts';
export { memoryCursor, sqlCursor } from './events/cursors.ts';
export type { RunSql, SqlCursor, SqlCursorOptions } from './events/cursors.ts';
export { GapError } from './events/stream.ts';
export type { EventStream } from './events/stream.ts';
export type {
  ClientEvent,
  ConnectionState,
  CursorStore,
  EventEnvelope,
  EventOptions,
  FeedEvent,
  GapEvent,
  KnownEvent,
  Transport,
  UnknownEvent,
} from './events/types.ts';
export type { Nouns } from './generated/nouns.ts';
export type { Agent } from './generated/agents.ts';
export type { Attachment, Message } from './generated/messages.ts';
export type { Contact } from './generated/search.ts';
export type { ContactRequest } from './generated/contacts.ts';
export type { Inbox, Lease } from './generated/inbox.ts';
export type { RemoteAgent } from './generated/remote.ts';
export type { Task, TaskMessage, TaskWithMessages } from './generated/tasks.ts';
export type { Thread } from './generated/threads.ts';
export type { WorkOptions, WorkReply } from './inbox-work.ts';
export type { OpenTask, TaskText, TaskWaitOptions } from './tasks.ts';
export type { Auth, ClientCredentials, Tickets, TokenSource } from './sign-in/types.ts';
export { createTestDelivery, verifyWebhook, WebhookVerificationError } from './webhooks.ts';
export type { TestDelivery, VerifyOptions, WebhookHeaders } from './webhooks.ts';
