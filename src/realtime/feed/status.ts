import { LRUCache } from 'lru-cache';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Cursors } from '../../work/cursors.ts';
import { eventTypes } from '../../../packages/core/src/events/list.ts';
import { canSeeEvent } from '../../../packages/core/src/events/feed-event.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { createBatchLoader } from '../../shared/batch-loader.ts';
import type { FeedStatus, WaitPosition } from '../contract.ts';

export interface FeedStatusParts {
  feed: Pick<Work['db']['feed'], 'readStatuses'>;
  cursors: Pick<Cursors, 'encodeFeed' | 'decodeFeed'>;
}

/** Maximum number of pending events that is shown. */
const maxPending = 100;
/** Entries that one query reads of one feed, and queries for one status. */
const maxEntriesPerQuery = 400;
const maxQueries = 5;
/** Ids of all counts that are remembered. */
const maxRememberedIds = 200_000;

type Request = Omit<Parameters<Work['db']['feed']['readStatuses']>[0][number], 'counted'> & {
  counted: Count | undefined;
};

/** The events of others in a range of a feed. */
interface Count {
  start: number;
  up_to: number;
  ids: readonly string[];
}

/**
 * Creates the reader of the status of an agent's feed. Concurrent calls share one query. Counts are
 * remembered, so that a call reads only newer entries, however many are after the position.
 */
export function createFeedStatus({ feed, cursors }: FeedStatusParts) {
  const counts = new LRUCache<string, Count>({
    maxSize: maxRememberedIds,
    sizeCalculation: ({ ids }) => ids.length + 10,
  });
  const keyOf = ({ agent_id, types, after }: Pick<Request, 'agent_id' | 'types' | 'after'>) =>
    `${agent_id}:${types?.join(',')}:${after}`;
  const load = createBatchLoader<Request, { last_number: number; complete: boolean; count: Count }>({
    key: keyOf,
    async load(requests) {
      const statuses = await feed.readStatuses(requests);
      return requests.map((request, index) => {
        const status = statuses[index];
        if (!status) return { last_number: 0, complete: true, count: { start: 0, up_to: 0, ids: [] } };
        const { last_number, complete, start, up_to, continued, ids } = status;
        const before = continued ? request.counted?.ids : undefined;
        const count = { start, up_to, ids: before ? [...before, ...ids] : ids };
        counts.set(keyOf(request), count);
        return { last_number, complete, count };
      });
    },
    maxBatchSize: 50,
    maxConcurrent: 2,
  });

  async function readStatus(
    { agent_id, scopes }: Actor,
    { cursors: starts, returned }: WaitPosition = { cursors: [], returned: [] },
  ): Promise<FeedStatus> {
    const visible = eventTypes.filter((type) => canSeeEvent(scopes, type));
    const types = visible.length < eventTypes.length ? visible : null;
    const numbers = starts.flatMap((start) =>
      start === undefined ? [] : cursors.decodeFeed(agent_id, start),
    );
    const request = { agent_id, types, after: numbers.length > 0 ? Math.max(...numbers) : null };
    const received = new Set(returned);
    const countPending = ({ ids }: Count) => ids.filter((id) => !received.has(id)).length;
    for (let queries = 1; ; queries += 1) {
      const counted = counts.get(keyOf(request));
      const isEnough = counted !== undefined && countPending(counted) > maxPending;
      const limit = isEnough ? 0 : maxEntriesPerQuery;
      const { last_number, complete, count } = await load({ ...request, counted, limit });
      const pending = countPending(count);
      if (!complete && pending <= maxPending && queries < maxQueries) continue;
      return {
        cursor: cursors.encodeFeed(agent_id, last_number),
        pending_events: Math.min(pending, maxPending),
        ...((pending > maxPending || !complete) && { pending_events_more: true as const }),
      };
    }
  }

  return { read: readStatus, clear: () => counts.clear() };
}
