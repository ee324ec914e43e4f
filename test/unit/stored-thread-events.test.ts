import { expect, test } from 'vitest';
import { exampleAgents, exampleThread } from '../../packages/core/src/records/examples.ts';
import { presentEventData } from '../../packages/core/src/events/present-event.ts';
import type { EventType } from '../../packages/core/src/events/list.ts';

const { planner, support } = exampleAgents;
const { metadata: _metadata, created_by_id: _id, unread_count: _unread, ...record } = exampleThread;
/** As a build before `created_by_id` and `metadata` stored it. */
const stored = { ...record, created_by: planner.id };

const present = (type: EventType, data: object): object =>
  presentEventData({ id: 'evt_1', type, data, created_at: 0, message: null });

test.each<[string, object]>([
  ['thread.updated', present('thread.updated', stored)],
  ['thread.created', present('thread.created', { ...stored, created_by: planner, unread_count: 0 })],
  [
    'thread.member_added',
    Object(present('thread.member_added', { thread_id: 't', member: support, by: support, thread: stored }))
      .thread,
  ],
])('%s of an older build has all fields', (_, thread) => {
  expect(thread).toMatchObject({
    created_by: planner.canonical_handle,
    created_by_id: planner.id,
    metadata: {},
  });
});

test('an event of an older build whose creator has left names its id', () => {
  const thread = present('thread.updated', { ...stored, members: [support] });
  expect(thread).toMatchObject({ created_by: planner.id, created_by_id: planner.id });
});
