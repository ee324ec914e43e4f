import { repository, sql } from '../sql.ts';

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

export const positionsRepository = repository({
  find: sql.row<[agentId: string], AgentPosition>(
    'positions.find',
    `select last_number, xmin::text as version, pg_current_snapshot()::text as snapshot from feed_heads where agent_id = :agent_id`,
  ),
});
