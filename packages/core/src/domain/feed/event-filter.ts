import type { EventType } from './events.ts';

/** The arguments of a subscription. */
export interface EventFilter {
  thread_id?: string | undefined;
  /** A canonical handle. */
  with_handle?: string | undefined;
  only_mentions?: boolean | undefined;
}

interface FilteredEvent {
  type: EventType;
  thread_id: string | null;
  message: { sender_id: string } | null;
  data: object;
}

/**
 * Creates the function that returns whether an event belongs to a subscription. A thread or an agent that does not exist, or that the agent
 * cannot see, matches no event. The agent's own messages are left out, because an agent that reacts to messages would react to itself.
 */
export function createEventFilter(
  { agent_id, handle }: { agent_id: string; handle: string },
  type: EventType,
  { thread_id, with_handle, only_mentions }: EventFilter,
): (event: FilteredEvent) => boolean {
  const mention = only_mentions === true ? mentionOf(handle) : undefined;
  return (event) =>
    event.type === type &&
    !(type === 'message.created' && event.message?.sender_id === agent_id) &&
    (thread_id === undefined || event.thread_id === thread_id) &&
    (with_handle === undefined || handlesIn(event.data).includes(with_handle)) &&
    (mention === undefined || mention.test(String(readField(event.data, 'content'))));
}

/** Finds a handle with `@` that is not part of a longer one. */
function mentionOf(handle: string): RegExp {
  return new RegExp(`(?<![a-z0-9_.@-])@${handle.replaceAll('.', '\\.')}(?![a-z0-9_-]|\\.[a-z0-9])`, 'i');
}

/** Fields of event data with an agent. */
const agentFields = ['sender', 'agent', 'member', 'by', 'from'];

/** The agents that the data of an event names, by handle; none from texts and metadata, which their senders write. */
function handlesIn(data: object): unknown[] {
  const members = [readField(data, 'members'), readField(readField(data, 'thread'), 'members')];
  const agents = [data, ...agentFields.map((name) => readField(data, name)), ...members.flat()];
  return [...agents.map((agent) => readField(agent, 'canonical_handle')), readField(data, 'target')];
}

function readField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
