import { type Queryable, statement } from '../queryable.ts';

/**
 * The feed counter of an agent with the version of its row. Every transaction in which the agent acts or receives an event writes a new
 * version.
 */
export interface AgentPosition {
  last_number: number;
  /** The transaction that made this version. */
  version: string;
  /** The snapshot in which this was read (pg_snapshot). A replica cannot determine its own. */
  snapshot: string;
}

const find = statement(
  'positions.find',
  `select last_number, xmin::text as version, pg_current_snapshot()::text as snapshot from feed_heads where agent_id = $1`,
);

export function positionsRepository(db: Queryable) {
  return {
    async find(agentId: string): Promise<AgentPosition | undefined> {
      return (await db.query<AgentPosition>(find, [agentId]))[0];
    },
  };
}
