import { type Queryable, statement } from '../queryable.ts';

/**
 * How far an agent has come: the version of its feed's head. Whatever the agent does and whatever it is told of makes a new one, in
 * the transaction that does it.
 */
export interface AgentPosition {
  last_number: number;
  /** The transaction that made this version. */
  version: string;
  /** What had been committed when this was read, as PostgreSQL writes it (pg_snapshot). A replica cannot tell that of itself. */
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
