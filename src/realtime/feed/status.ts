import { LRUCache } from 'lru-cache';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Cursors } from '../../work/cursors.ts';
import { eventTypes } from '../../../packages/core/src/events/list.ts';
import { canSeeEvent } from '../../../packages/core/src/events/feed-event.ts';
import { isNews } from '../../../packages/core/src/events/news.ts';
import { timeOfId } from '../../../packages/core/src/domain/ids.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { createBatchLoader } from '../../shared/batch-loader.ts';
import type { FeedHead, FeedStatus, Realtime, WaitPosition } from '../contract.ts';

export interface FeedStatusParts {
  feed: Pick<Work['db']['feed'], 'readStatuses'>;
  cursors: Pick<Cursors, 'encodeFeed' | 'decodeFeed'>;
}

/** Maximum number of pending events that is shown. */
const maxPending = 100;
/** Entries that one query reads of one feed, and queries for one status. */
const maxEntriesPerQuery = 400;
const maxQueries = 5;
/** Ids of all counts that are remembered, and counts of one agent. */
const maxRememberedIds = 200_000;
const maxCountsPerAgent = 4;
/** Retention removes only older entries, in milliseconds. */
const minKeptMs = 12 * 60 * 60 * 1000;

type Filter = Pick<Parameters<Work['db']['feed']['readStatuses']>[0][number], 'types' | 'after'>;

/** The events of others in a range of a feed, by a filter. */
interface Count extends Filter {
  start: number;
  up_to: number;
  /** The position from which it is counted where the filter has none. */
  acknowledged_number: number | null;
  ids: readonly string[];
}

interface Request extends Filter {
  agent_id: string;
  counted: Count | undefined;
  limit: number;
}

type Commit = Parameters<Realtime['fanOut']>[0];

interface Answer extends Pick<Count, 'ids'> {
  last_number: number;
  /** Whether all entries are counted. */
  complete: boolean;
}

/**
 * Creates the reader of the status of an agent's feed. Concurrent calls share one query. Counts are remembered, and commits of this
 * process continue them: a call reads only the entries of other processes, or nothing if its caller knows that there are none.
 */
export function createFeedStatus({ feed, cursors }: FeedStatusParts) {
  const counts = new LRUCache<string, readonly Count[]>({
    maxSize: maxRememberedIds,
    sizeCalculation: (list) => list.reduce((size, { ids }) => size + ids.length + 10, 0),
  });
  const find = (agent_id: string, filter: Filter) => counts.get(agent_id)?.find(hasFilter(filter));

  function remember(agent_id: string, count: Count): void {
    const hasSame = hasFilter(count);
    const others = counts.peek(agent_id)?.filter((other) => !hasSame(other)) ?? [];
    counts.set(agent_id, [count, ...others.slice(0, maxCountsPerAgent - 1)]);
  }

  const load = createBatchLoader<Request, Answer>({
    key: ({ agent_id, ...filter }) => `${agent_id}:${keyOf(filter)}`,
    async load(requests) {
      const statuses = await feed.readStatuses(requests);
      return requests.map(({ agent_id, types, after, counted }, index) => {
        const status = statuses[index];
        if (!status) return { last_number: 0, complete: true, ids: [] };
        const { last_number, acknowledged_number, complete, start, up_to, continued } = status;
        const ids = continued && counted ? [...counted.ids, ...status.ids] : status.ids;
        remember(agent_id, { types, after, start, up_to, acknowledged_number, ids });
        return { last_number, complete, ids };
      });
    },
    maxBatchSize: 50,
    maxConcurrent: 2,
  });

  async function readStatus(
    { agent_id, scopes }: Actor,
    { cursors: starts, returned }: WaitPosition = { cursors: [], returned: [] },
    head?: FeedHead,
  ): Promise<FeedStatus> {
    const visible = eventTypes.filter((type) => canSeeEvent(scopes, type));
    const types = visible.length < eventTypes.length ? visible : null;
    const numbers = starts.flatMap((start) =>
      start === undefined ? [] : cursors.decodeFeed(agent_id, start),
    );
    const filter = { types, after: numbers.length > 0 ? Math.max(...numbers) : null };
    const received = new Set(returned);
    const countPending = ({ ids }: Pick<Count, 'ids'>) => ids.filter((id) => !received.has(id)).length;
    for (let queries = 1; ; queries += 1) {
      const counted = find(agent_id, filter);
      const isEnough = counted !== undefined && countPending(counted) > maxPending;
      const limit = isEnough ? 0 : maxEntriesPerQuery;
      const answer =
        (head && counted && answerFrom(counted, head)) ??
        (await load({ agent_id, ...filter, counted, limit }));
      const pending = countPending(answer);
      if (!answer.complete && pending <= maxPending && queries < maxQueries) continue;
      return {
        cursor: cursors.encodeFeed(agent_id, answer.last_number),
        pending_events: Math.min(pending, maxPending),
        ...((pending > maxPending || !answer.complete) && { pending_events_more: true as const }),
      };
    }
  }

  return {
    read: readStatus,
    /** Continues the counts of these feeds, so that no query reads the entries. */
    add({ entries, events }: Commit): void {
      for (const { agent_id, number, event_id } of entries) {
        const list = counts.peek(agent_id);
        const event = list && events.find(({ id }) => id === event_id);
        if (!event || !list.some(({ up_to }) => number === up_to + 1)) continue;
        const continued = list.map((count) => continueCount(count, { agent_id, number, event }));
        // Once for each agent: a send to a large thread continues the counts of all its members.
        counts.set(agent_id, continued);
      }
    },
    clear: () => counts.clear(),
  };
}

const keyOf = ({ types, after }: Filter): string => `${types?.join(',')}:${after}`;

function hasFilter(filter: Filter): (count: Count) => boolean {
  const key = keyOf(filter);
  return (count) => keyOf(count) === key;
}

/** The count with the next entry of its feed. It stays the same if this is another entry, or if the count has enough ids. */
function continueCount(
  count: Count,
  { agent_id, number, event }: { agent_id: string; number: number; event: Commit['events'][number] },
): Count {
  if (number !== count.up_to + 1) return count;
  const id = event.type === 'message.created' ? event.message?.id : event.id;
  const isCounted =
    (count.types?.includes(event.type) ?? true) && isNews({ ...event, data: event.data ?? {} }, agent_id);
  if (!isCounted || id === undefined) return { ...count, up_to: number };
  return count.ids.length > maxEntriesPerQuery ? count : { ...count, up_to: number, ids: [...count.ids, id] };
}

/** The answer without a query: undefined if the feed has other entries than those that are counted, or may have lost some of them. */
function answerFrom(
  { up_to, acknowledged_number, ids }: Count,
  { last_number, acknowledged_number: acknowledgedNow }: FeedHead,
): Answer | undefined {
  const [oldest] = ids;
  const isKept = oldest === undefined || timeOfId(oldest) > Date.now() - minKeptMs;
  if (!isKept || last_number === null || up_to < last_number || acknowledged_number !== acknowledgedNow)
    return undefined;
  return { last_number, complete: true, ids };
}
