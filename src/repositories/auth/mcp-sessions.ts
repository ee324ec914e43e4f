import { databaseError } from '../errors.ts';
import { type Queryable, type Statement, statement } from '../queryable.ts';

/** What a client told of itself when it opened the session. */
export interface McpClient {
  name: string;
  version: string;
  /** Ways in which the client can ask its user (MCP, Elicitation). */
  elicitation: ('form' | 'url')[];
  /** The least severe messages that it wants (MCP, Logging); absent: none. */
  log_level?: LogLevel | undefined;
}

type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

export interface McpSessionRow {
  agent_id: string;
  protocol_version: string;
  client: McpClient;
  /** URIs of the resources whose changes it wants to hear of. */
  subscriptions: string[];
  created_at: number;
  seen_at: number;
}

const statements = {
  find: statement(
    'mcp_sessions.find',
    'select agent_id, protocol_version, client, subscriptions, created_at, seen_at from mcp_sessions where id_hash = $1',
  ),
  insert: statement(
    'mcp_sessions.insert',
    `insert into mcp_sessions (id_hash, agent_id, protocol_version, client, created_at, seen_at)
     values ($1, $2, $3, $4, $5, $5)`,
  ),
  touch: statement(
    'mcp_sessions.touch',
    'update mcp_sessions set seen_at = $2 where id_hash = $1 and seen_at < $2',
  ),
  subscribe: statement(
    'mcp_sessions.subscribe',
    `update mcp_sessions set subscriptions = array_append(array_remove(subscriptions, $2), $2)
     where id_hash = $1 and (cardinality(subscriptions) < $3 or $2 = any(subscriptions)) returning 1`,
  ),
  unsubscribe: statement(
    'mcp_sessions.unsubscribe',
    'update mcp_sessions set subscriptions = array_remove(subscriptions, $2) where id_hash = $1',
  ),
  setLogLevel: statement(
    'mcp_sessions.set_log_level',
    "update mcp_sessions set client = client || jsonb_build_object('log_level', $2::text) where id_hash = $1",
  ),
  remove: statement('mcp_sessions.remove', 'delete from mcp_sessions where id_hash = $1'),
  removeOfAgent: statement('mcp_sessions.remove_of_agent', 'delete from mcp_sessions where agent_id = $1'),
  removeBefore: statement(
    'mcp_sessions.remove_before',
    `delete from mcp_sessions where id_hash in (select id_hash from mcp_sessions where seen_at < $1 limit $2)
     returning 1`,
  ),
};

/** Sessions are looked up outside of any unit of work: so faults of the database become domain errors here. */
export function mcpSessionsRepository(db: Queryable) {
  async function query<Row extends object>(sql: Statement, values: readonly unknown[]): Promise<Row[]> {
    try {
      return await db.query<Row>(sql, values);
    } catch (error) {
      throw databaseError(error);
    }
  }

  return {
    async find(idHash: Buffer): Promise<McpSessionRow | undefined> {
      return (await query<McpSessionRow>(statements.find, [idHash]))[0];
    },
    async insert(idHash: Buffer, session: Omit<McpSessionRow, 'seen_at' | 'subscriptions'>): Promise<void> {
      const { agent_id, protocol_version, client, created_at } = session;
      await query(statements.insert, [idHash, agent_id, protocol_version, client, created_at]);
    },
    /** Notes that the session was used at `now` (ms). */
    async touch(idHash: Buffer, now: number): Promise<void> {
      await query(statements.touch, [idHash, now]);
    },
    /** Adds a URI; answers whether the session holds it then: not when it would be beyond `most`. */
    async subscribe(idHash: Buffer, uri: string, most: number): Promise<boolean> {
      return (await query(statements.subscribe, [idHash, uri, most])).length > 0;
    },
    async unsubscribe(idHash: Buffer, uri: string): Promise<void> {
      await query(statements.unsubscribe, [idHash, uri]);
    },
    async setLogLevel(idHash: Buffer, level: string): Promise<void> {
      await query(statements.setLogLevel, [idHash, level]);
    },
    async remove(idHash: Buffer): Promise<void> {
      await query(statements.remove, [idHash]);
    },
    async removeOfAgent(agentId: string): Promise<void> {
      await query(statements.removeOfAgent, [agentId]);
    },
    /** Removes up to `limit` sessions not used since `time` (ms); answers how many. */
    async removeBefore(time: number, limit: number): Promise<number> {
      return (await query(statements.removeBefore, [time, limit])).length;
    },
  };
}
