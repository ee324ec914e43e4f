import type { Actor } from '../domain/actor.ts';
import type { Cursors } from '../domain/cursors.ts';
import { type EventType, eventTypes, maySee } from '../domain/events.ts';
import type { Work } from '../unit-of-work.ts';
import { batching } from './batching.ts';
import type { Standing } from './contract.ts';

export interface StandingsParts {
  feed: Pick<Work['feed'], 'standings'>;
  cursors: Pick<Cursors, 'encodeFeed'>;
}

/** Lines behind the acknowledged position that are looked at, at most. */
const farthestAhead = 100;

type Question = { agent_id: string; types: readonly EventType[] };
type Answer = { last_number: number; pending: number };

/** Tells agents where their feeds stand, many with one query. */
export function createStandings({ feed, cursors }: StandingsParts): (actor: Actor) => Promise<Standing> {
  const ask = batching<Question, Answer>({
    key: ({ agent_id, types }) => `${agent_id}:${types.join(',')}`,
    async load(questions) {
      const found = await feed.standings(questions, farthestAhead);
      return found.map((one) => one ?? { last_number: 0, pending: 0 });
    },
    size: 200,
    lanes: 2,
  });

  return async function standing({ agent_id, scopes }) {
    const types = eventTypes.filter((type) => maySee(scopes, type));
    const { last_number, pending } = await ask({ agent_id, types });
    return { cursor: cursors.encodeFeed(agent_id, last_number), pending_events: pending };
  };
}
