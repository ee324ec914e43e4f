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

/** Lines behind the acknowledged position that are looked at, at most. */
const maxPending = 100;

type Question = { agent_id: string; types: readonly EventType[] };
type Answer = { last_number: number; pending: number };

/** Tells agents where their feeds stand, many with one query. */
export function createFeedStatus({ feed, cursors }: FeedStatusParts): (actor: Actor) => Promise<FeedStatus> {
  const ask = createBatchLoader<Question, Answer>({
    key: ({ agent_id, types }) => `${agent_id}:${types.join(',')}`,
    async load(questions) {
      const found = await feed.readStatuses(questions, maxPending);
      return found.map((one) => one ?? { last_number: 0, pending: 0 });
    },
    maxBatchSize: 200,
    maxConcurrent: 2,
  });

  return async function standing({ agent_id, scopes }) {
    const types = eventTypes.filter((type) => canSeeEvent(scopes, type));
    const { last_number, pending } = await ask({ agent_id, types });
    return { cursor: cursors.encodeFeed(agent_id, last_number), pending_events: pending };
  };
}
