// What programs import: @agent-messaging/chat-adapter.
export { createAgentMessagingAdapter } from './adapter.ts';
export type { AgentMessagingAdapter } from './adapter.ts';
export type { AgentMessagingAdapterOptions } from './options.ts';
export type { AgentMessagingThread } from './thread-ids.ts';
export type { WebhookVerifier } from './receive.ts';
