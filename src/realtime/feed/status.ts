import type { Actor } from '../../domain/auth/actor.ts';
import type { Cursors } from '../../domain/feed/cursors.ts';
import { type EventType, eventTypes, canSeeEvent } from '../../domain/feed/events.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { createBatchLoader } from '../../shared/batch-loader.ts';
import type { FeedStatus } from '../contract.ts';

export interface FeedStatusParts {
  feed: Pick<Work['feed'], 'readStatuses'>;
  cursors: Pick<Cursors, 'encodeFeed'>;
}

/** Maximum entries after the acknowledged position that are counted. */
const maxPending = 100;

/** `types`: the events that count; null for all. */
type StatusRequest = { agent_id: string; types: readonly EventType[] | null };
type StatusCounts = { last_number: number; pending: number };

/** Returns a function that reads the status of an agent's feed. Concurrent calls share one query. */
export function createFeedStatus({ feed, cursors }: FeedStatusParts): (actor: Actor) => Promise<FeedStatus> {
  const load = createBatchLoader<StatusRequest, StatusCounts>({
    key: ({ agent_id, types }) => `${agent_id}:${types?.join(',')}`,
    async load(requests) {
      const statuses = await feed.readStatuses(requests, maxPending);
      return statuses.map((status) => status ?? { last_number: 0, pending: 0 });
    },
    maxBatchSize: 200,
    maxConcurrent: 2,
  });

  return async function readStatus({ agent_id, scopes }) {
    const visible = eventTypes.filter((type) => canSeeEvent(scopes, type));
    const types = visible.length < eventTypes.length ? visible : null;
    const { last_number, pending } = await load({ agent_id, types });
    return { cursor: cursors.encodeFeed(agent_id, last_number), pending_events: pending };
  };
}
