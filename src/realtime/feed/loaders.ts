import type { FeedRange } from '../../../packages/core/src/domain/feed/receipts.ts';
import { createBatchLoader } from '../../shared/batch-loader.ts';
import type { Work } from '../../work/unit-of-work.ts';
import type { FeedBounds } from './start-position.ts';

export interface FeedLoaders {
  /** The bounds of one agent's feed. */
  bounds(agentId: string): Promise<FeedBounds>;
  /** Moves an acknowledged position forward. Resolves to the range it moved over, or null when it did not move. */
  acknowledge(position: { agent_id: string; number: number }): Promise<FeedRange | null>;
}

/** Concurrent calls for many agents share one statement. */
export function createFeedLoaders(feed: Pick<Work['db']['feed'], 'readBounds' | 'acknowledge'>): FeedLoaders {
  return {
    bounds: createBatchLoader<string, FeedBounds>({
      key: (agentId) => agentId,
      async load(agentIds) {
        const rows = new Map((await feed.readBounds(agentIds)).map((row) => [row.agent_id, row]));
        return agentIds.map((agent_id) => rows.get(agent_id) ?? emptyFeed(agent_id));
      },
      maxBatchSize: 500,
      maxConcurrent: 2,
    }),
    acknowledge: createBatchLoader<{ agent_id: string; number: number }, FeedRange | null>({
      key: ({ agent_id, number }) => `${agent_id}:${number}`,
      async load(positions) {
        const ranges = new Map((await feed.acknowledge(positions)).map((range) => [range.agent_id, range]));
        return positions.map(({ agent_id }) => ranges.get(agent_id) ?? null);
      },
      maxBatchSize: 200,
      maxConcurrent: 1,
    }),
  };
}

function emptyFeed(agent_id: string): FeedBounds {
  return { agent_id, last_number: 0, acknowledged_number: null, first_number: null, ended_stretches: null };
}
