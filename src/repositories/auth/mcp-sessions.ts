import { databaseError } from '../errors.ts';
import { later, mcpPlaceQueries } from './mcp-places.ts';
import { type NamedStatement, query, type Queryable, statement, unflushedCommit } from '../queryable.ts';

/** What a client sent to initialize the session. */
export interface McpClient {
  name: string;
  version: string;
  /** The elicitation modes that the client supports (MCP, Elicitation). */
  elicitation: ('form' | 'url')[];
  /** The minimum log level (MCP, Logging); absent: no log messages. */
  log_level?: LogLevel | undefined;
}

type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

export interface McpSessionRow {
  agent_id: string;
  protocol_version: string;
  client: McpClient;
  /** URIs of the resources that it subscribed to. */
  subscriptions: string[];
  created_at: number;
  seen_at: number;
  /** Where a notification stream without Last-Event-ID starts: at the start of the session, or after what its streams have sent. */
  stream_cursor: string | null;
  /** The newest notification stream, which alone receives. */
  stream_number: number;
}

/** The subscriptions of a session without these. */
const without = (uris: string) =>
  `array(select uri from unnest(subscriptions) with ordinality s (uri, place) where uri <> all(${uris}::text[]) order by place)`;

const statements = {
  find: statement(
    'mcp_sessions.find',
    `select agent_id, protocol_version, client, subscriptions, created_at, seen_at, stream_cursor, stream_number
     from mcp_sessions where id_hash = :id_hash`,
  ),
  insert: statement(
    'mcp_sessions.insert',
    `insert into mcp_sessions (id_hash, agent_id, protocol_version, client, created_at, seen_at, stream_cursor)
     values (:id_hash, :agent_id, :protocol_version, :client, :created_at, :created_at, :stream_cursor)`,
  ),
  touch: statement(
    'mcp_sessions.touch',
    'update mcp_sessions set seen_at = :now where id_hash = :id_hash and seen_at < :now',
  ),
  subscribe: statement(
    'mcp_sessions.subscribe',
    `update mcp_sessions set subscriptions = array_append(${without(':replaced')}, :uri)
     where id_hash = :id_hash and cardinality(${without(':replaced')}) < :max_subscriptions returning 1`,
  ),
  unsubscribe: statement(
    'mcp_sessions.unsubscribe',
    `update mcp_sessions set subscriptions = ${without(':uris')} where id_hash = :id_hash`,
  ),
  setLogLevel: statement(
    'mcp_sessions.set_log_level',
    "update mcp_sessions set client = client || jsonb_build_object('log_level', :level::text) where id_hash = :id_hash",
  ),
  takeStream: statement(
    'mcp_sessions.take_stream',
    'update mcp_sessions set stream_number = stream_number + 1 where id_hash = :id_hash returning stream_number, stream_cursor',
  ),
  /** Without a flush: after a crash of the database, the stream sends some notifications again. */
  claimNotifications: statement(
    'mcp_sessions.claim_notifications',
    `update mcp_sessions set stream_cursor = ${later('stream_cursor', ':cursor::text')} from ${unflushedCommit}
     where id_hash = :id_hash and stream_number = :stream_number returning subscriptions`,
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

/** MCP sessions. They are used outside of units of work, so database errors are converted to domain errors here. Times are in milliseconds. */
export function mcpSessionsRepository(db: Queryable) {
  async function run<Row extends object>(sql: NamedStatement, values: Record<string, unknown>) {
    try {
      return await query<Row>(db, sql, values);
    } catch (error) {
      throw databaseError(error);
    }
  }

  return {
    ...mcpPlaceQueries(run),
    async find(idHash: Buffer): Promise<McpSessionRow | undefined> {
      return (await run<McpSessionRow>(statements.find, { id_hash: idHash }))[0];
    },
    async insert(
      idHash: Buffer,
      session: Omit<McpSessionRow, 'seen_at' | 'subscriptions' | 'stream_number'>,
    ): Promise<void> {
      await run(statements.insert, { id_hash: idHash, ...session });
    },
    /** Records that the session was used at `now`. */
    async touch(idHash: Buffer, now: number): Promise<void> {
      await run(statements.touch, { id_hash: idHash, now });
    },
    /** Adds a URI in place of others. Returns false, and changes nothing, when the session has `maxSubscriptions` further URIs. */
    async subscribe(
      idHash: Buffer,
      uri: string,
      replaced: readonly string[],
      maxSubscriptions: number,
    ): Promise<boolean> {
      const values = { id_hash: idHash, uri, replaced, max_subscriptions: maxSubscriptions };
      return (await run(statements.subscribe, values)).length > 0;
    },
    /** Removes these URIs. */
    async unsubscribe(idHash: Buffer, uris: readonly string[]): Promise<void> {
      await run(statements.unsubscribe, { id_hash: idHash, uris });
    },
    async setLogLevel(idHash: Buffer, level: string): Promise<void> {
      await run(statements.setLogLevel, { id_hash: idHash, level });
    },
    /** Makes a new notification stream the one that receives. Undefined if the session has ended. */
    async takeStream(
      idHash: Buffer,
    ): Promise<Pick<McpSessionRow, 'stream_number' | 'stream_cursor'> | undefined> {
      const [row] = await run<Pick<McpSessionRow, 'stream_number' | 'stream_cursor'>>(statements.takeStream, {
        id_hash: idHash,
      });
      return row;
    },
    /** Records what a stream is about to send. Returns the subscriptions; undefined if a newer stream receives or the session has ended. */
    async claimNotifications(
      idHash: Buffer,
      streamNumber: number,
      cursor: string,
    ): Promise<string[] | undefined> {
      const values = { id_hash: idHash, stream_number: streamNumber, cursor };
      const [row] = await run<Pick<McpSessionRow, 'subscriptions'>>(statements.claimNotifications, values);
      return row?.subscriptions;
    },
    async remove(idHash: Buffer): Promise<void> {
      await run(statements.remove, { id_hash: idHash });
    },
    async removeOfAgent(agentId: string): Promise<void> {
      await run(statements.removeOfAgent, { agent_id: agentId });
    },
    /** Removes up to `limit` sessions that were last used before `time`; returns how many. */
    async removeBefore(time: number, limit: number): Promise<number> {
      return (await run(statements.removeBefore, { time, limit })).length;
    },
  };
}
