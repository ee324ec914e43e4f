import { expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { createFeedStatus, type FeedStatusParts } from '../../../src/realtime/feed/status.ts';
import { createCursors } from '../../../src/work/cursors.ts';
import { buildActor } from './memory-feed.ts';

const agent_id = 'agt_1';

/** A feed of one agent, and its status reader. */
function createFeed() {
  const ids: string[] = [];
  let queries = 0;
  const head = () => ({ last_number: ids.length, acknowledged_number: null });
  const feed: FeedStatusParts['feed'] = {
    async readStatuses(requests) {
      queries += 1;
      return requests.map(({ after }) => {
        const start = after ?? 0;
        const range = { start, up_to: ids.length, continued: false, complete: true };
        return { ...head(), ...range, ids: ids.slice(start) };
      });
    },
  };
  const cursors = createCursors(['test']);
  const status = createFeedStatus({ feed, cursors });
  return {
    commit() {
      const id = newId('event');
      const event = {
        id,
        type: 'thread.updated',
        thread_id: null,
        data: {},
        created_at: 1,
        message: null,
      } as const;
      const entries = [{ agent_id, number: ids.push(id), event_id: id }];
      status.add({ entries, events: [event] });
    },
    /** The pending events after a position, and the queries that it took to count them. */
    async countAfter(number: number) {
      queries = 0;
      const position = { cursors: [cursors.encodeFeed(agent_id, number)], returned: [] };
      const { pending_events } = await status.read(buildActor(agent_id), position, head());
      return [pending_events, queries];
    },
  };
}

test('commits continue the counts of a feed, and a new count replaces the oldest one', async () => {
  const { commit, countAfter } = createFeed();
  for (let number = 1; number <= 4; number += 1) commit();
  for (const after of [0, 1, 2, 3]) expect(await countAfter(after)).toEqual([4 - after, 1]);
  commit();
  expect(await countAfter(4)).toEqual([1, 1]);
  commit();
  for (const after of [4, 3, 2, 1]) expect(await countAfter(after)).toEqual([6 - after, 0]);
  expect(await countAfter(0)).toEqual([6, 1]);
});
