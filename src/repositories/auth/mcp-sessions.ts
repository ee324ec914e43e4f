import { databaseError } from '../errors.ts';
import { type NamedStatement, query, type Queryable, statement } from '../queryable.ts';

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
    'select agent_id, protocol_version, client, subscriptions, created_at, seen_at from mcp_sessions where id_hash = :id_hash',
  ),
  insert: statement(
    'mcp_sessions.insert',
    `insert into mcp_sessions (id_hash, agent_id, protocol_version, client, created_at, seen_at)
     values (:id_hash, :agent_id, :protocol_version, :client, :created_at, :created_at)`,
  ),
  touch: statement(
    'mcp_sessions.touch',
    'update mcp_sessions set seen_at = :now where id_hash = :id_hash and seen_at < :now',
  ),
  subscribe: statement(
    'mcp_sessions.subscribe',
    `update mcp_sessions set subscriptions = array_append(array_remove(subscriptions, :uri), :uri)
     where id_hash = :id_hash and (cardinality(subscriptions) < :max_subscriptions or :uri = any(subscriptions)) returning 1`,
  ),
  unsubscribe: statement(
    'mcp_sessions.unsubscribe',
    'update mcp_sessions set subscriptions = array_remove(subscriptions, :uri) where id_hash = :id_hash',
  ),
  setLogLevel: statement(
    'mcp_sessions.set_log_level',
    "update mcp_sessions set client = client || jsonb_build_object('log_level', :level::text) where id_hash = :id_hash",
  ),
  remove: statement('mcp_sessions.remove', 'delete from mcp_sessions where id_hash = :id_hash'),
  removeOfAgent: statement(
    'mcp_sessions.remove_of_agent',
    'delete from mcp_sessions where agent_id = :agent_id',
  ),
  removeBefore: statement(
    'mcp_sessions.remove_before',
    `delete from mcp_sessions where id_hash in (select id_hash from mcp_sessions where seen_at < :time limit :limit)
     returning 1`,
  ),
};

/** Sessions are looked up outside of any unit of work: so faults of the database become domain errors here. */
export function mcpSessionsRepository(db: Queryable) {
  async function run<Row extends object>(sql: NamedStatement, values: Record<string, unknown>) {
    try {
      return await query<Row>(db, sql, values);
    } catch (error) {
      throw databaseError(error);
    }
  }

  return {
    async find(idHash: Buffer): Promise<McpSessionRow | undefined> {
      return (await run<McpSessionRow>(statements.find, { id_hash: idHash }))[0];
    },
    async insert(idHash: Buffer, session: Omit<McpSessionRow, 'seen_at' | 'subscriptions'>): Promise<void> {
      const { agent_id, protocol_version, client, created_at } = session;
      await run(statements.insert, { id_hash: idHash, agent_id, protocol_version, client, created_at });
    },
    /** Notes that the session was used at `now` (ms). */
    async touch(idHash: Buffer, now: number): Promise<void> {
      await run(statements.touch, { id_hash: idHash, now });
    },
    /** Adds a URI; answers whether the session holds it then: not when it would be more than `maxSubscriptions`. */
    async subscribe(idHash: Buffer, uri: string, maxSubscriptions: number): Promise<boolean> {
      return (
        (await run(statements.subscribe, { id_hash: idHash, uri, max_subscriptions: maxSubscriptions }))
          .length > 0
      );
    },
    async unsubscribe(idHash: Buffer, uri: string): Promise<void> {
      await run(statements.unsubscribe, { id_hash: idHash, uri });
    },
    async setLogLevel(idHash: Buffer, level: string): Promise<void> {
      await run(statements.setLogLevel, { id_hash: idHash, level });
    },
    async remove(idHash: Buffer): Promise<void> {
      await run(statements.remove, { id_hash: idHash });
    },
    async removeOfAgent(agentId: string): Promise<void> {
      await run(statements.removeOfAgent, { agent_id: agentId });
    },
    /** Removes up to `limit` sessions not used since `time` (ms); answers how many. */
    async removeBefore(time: number, limit: number): Promise<number> {
      return (await run(statements.removeBefore, { time, limit })).length;
    },
  };
}
