import type { EventType } from '../../../../packages/core/src/domain/feed/events.ts';
import type { LiveEvent } from '../../../realtime/contract.ts';
import type { Resources } from './resources.ts';

const contacts = 'service://contacts';
const threads = 'service://threads';
const thread = 'service://threads/{thread_id}';

/** The resources that an event of each type changes. */
const resourcesByEventType: Record<EventType, readonly string[]> = {
  'message.created': [threads, thread],
  'thread.created': [threads, thread],
  'thread.updated': [threads, thread],
  'thread.member_added': [threads, thread],
  'thread.member_removed': [threads, thread],
  'message.read': [threads, thread],
  'attachment.scanned': [thread],
  'message.delivered': [],
  'message.handled': [],
  'inbox.expired': [],
  'contact.added': [contacts],
  'contact.removed': [contacts],
  'contact.updated': [contacts],
  'contact.request': [],
  'approval.resolved': [],
  'agent.updated': [contacts],
};

/** The subscribed resources that the events have changed, as the client writes their URIs, without duplicates. */
export function findChangedResources(
  events: readonly Pick<LiveEvent, 'type' | 'thread_id'>[],
  subscribed: readonly string[],
  resources: Pick<Resources, 'find'>,
): string[] {
  if (subscribed.length === 0) return [];
  const changed = new Set(
    events.flatMap(({ type, thread_id }) =>
      resourcesByEventType[type].map((uri) => uri.replace('{thread_id}', thread_id ?? '')),
    ),
  );
  return subscribed.filter((name) => changed.has(resources.find(name)?.uri ?? ''));
}
