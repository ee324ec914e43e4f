import { z } from 'zod';
import { agentRef } from '../../records/agent.ts';
import { exampleThread } from '../../records/examples.ts';
import { threadIdentifier } from '../../records/message.ts';
import { presentStoredThread, type StoredThread, threadSchema, watchedBy } from '../../records/thread.ts';

/** A thread without what differs between its members. */
export const updatedThread = threadSchema
  .omit({ unread_count: true })
  .meta({ id: 'ThreadUpdated', description: 'The current state of a thread.' });

const { unread_count: _unread, ...exampleUpdatedThread } = exampleThread;

export { exampleUpdatedThread };

/** The handles of the members. */
export const memberHandles = ({ members }: Pick<z.infer<typeof updatedThread>, 'members'>): string[] =>
  members.map(({ canonical_handle }) => canonical_handle);

/** Returns a stored thread as the public record. */
export const presentThreadData = (stored: object): object => presentStoredThread(stored as StoredThread);

/** The data of an event about a member. */
export const memberChange = z.object({
  thread_id: threadIdentifier,
  member: agentRef,
  by: agentRef.describe('The agent that made the change; the member itself if it left.'),
  thread: updatedThread.describe('The thread with its current members.'),
});

/** What events about a member have in common. */
export const ofMember = {
  scope: 'threads:read',
  isInboxItem: true,
  filters: ['thread_id'],
  handles: ({ member, by, thread }: z.infer<typeof memberChange>) => [
    member.canonical_handle,
    by.canonical_handle,
    ...memberHandles(thread),
  ],
  resources: ['service://threads', 'service://threads/{thread_id}'],
  present: (stored: object) => ({ ...stored, thread: presentThreadData(Reflect.get(stored, 'thread')) }),
} as const;

/** The data of an event about a watch link. */
export const watchChange = z.object({
  thread_id: threadIdentifier,
  member: agentRef.describe('The member whose people made the link.'),
  watched_by: watchedBy.describe('All links that are open now.'),
});

/** What events about a watch link have in common. An agent has nothing to do about them. */
export const ofWatch = {
  scope: 'threads:read',
  isInboxItem: false,
  filters: ['thread_id'],
  handles: ({ member }: z.infer<typeof watchChange>) => [member.canonical_handle],
  resources: ['service://threads', 'service://threads/{thread_id}'],
} as const;
