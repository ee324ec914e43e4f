import { eventOf, type EventType } from './list.ts';

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

/** The filters of an event type. */
export function filtersOf(type: EventType): (keyof EventFilter)[] {
  const { filters, handles } = eventOf(type);
  return [...filters, ...(handles ? ['with_handle' as const] : [])];
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
  const { handles } = eventOf(type);
  return (event) => {
    const data = event.data as Record<string, unknown>;
    return (
      event.type === type &&
      !(type === 'message.created' && event.message?.sender_id === agent_id) &&
      (thread_id === undefined || event.thread_id === thread_id) &&
      (with_handle === undefined || (handles?.(data).includes(with_handle) ?? false)) &&
      (mention === undefined || mention.test(String(data['content'])))
    );
  };
}

/** Finds a handle with `@` that is not part of a longer one. */
function mentionOf(handle: string): RegExp {
  return new RegExp(`(?<![a-z0-9_.@-])@${handle.replaceAll('.', '\\.')}(?![a-z0-9_-]|\\.[a-z0-9])`, 'i');
}
