import { databaseError } from '../errors.ts';
import { type NamedStatement, query, type Queryable, statement } from '../queryable.ts';

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
  /** Where a notification stream without Last-Event-ID starts: at the start of the session, or where its last stream ended. */
  stream_cursor: string | null;
}

/** What a session has received of its agent's feed. */
export interface McpSessionPosition {
  /** The session has received everything up to here. */
  cursor: string | undefined;
  /** Ids of messages, and of other events, that it received after that position. */
  returned: readonly string[];
}

export interface McpSessionMove {
  /** Undefined: the position stays. */
  cursor?: string | undefined;
  returned: readonly string[];
  /** Returned ids that are before the new position. */
  passed: readonly string[];
}

/** More than a waiting call leaves behind the position (`maxBehind`), for the replies beside it. */
const maxReturnedIds = 200;

/** The position of a cursor of a feed: its first part is the number as base64 without padding. */
const numberOf = (cursor: string) =>
  `convert_from(decode(rpad(split_part(${cursor}, '.', 1), (length(split_part(${cursor}, '.', 1)) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::bigint`;

/**
 * The later one of a stored cursor and a new one, of which either can be null. Waits and streams of one session end in any order; none
 * moves the session back. After a restore of the database all numbers are higher than before.
 */
const later = (stored: string, next: string) =>
  `case when ${numberOf(next)} <= ${numberOf(stored)} then ${stored} else coalesce(${next}, ${stored}) end`;

const statements = {
  find: statement(
    'mcp_sessions.find',
    'select agent_id, protocol_version, client, subscriptions, created_at, seen_at, stream_cursor from mcp_sessions where id_hash = :id_hash',
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
  readPosition: statement(
    'mcp_sessions.read_position',
    'select wait_cursor, returned_ids from mcp_sessions where id_hash = :id_hash',
  ),
  movePosition: statement(
    'mcp_sessions.move_position',
    `update mcp_sessions s set wait_cursor = ${later('s.wait_cursor', ':cursor::text')}, returned_ids = n.ids[greatest(1, cardinality(n.ids) - ${maxReturnedIds - 1}):]
     from (select id_hash, array(select id from unnest(returned_ids) with ordinality r (id, place) where id <> all(:passed::text[]) order by place) || :returned::text[] as ids
           from mcp_sessions where id_hash = :id_hash for no key update) n
     where s.id_hash = n.id_hash`,
  ),
  moveStreamCursor: statement(
    'mcp_sessions.move_stream_cursor',
    `update mcp_sessions set stream_cursor = ${later('stream_cursor', ':cursor::text')} where id_hash = :id_hash`,
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
    async find(idHash: Buffer): Promise<McpSessionRow | undefined> {
      return (await run<McpSessionRow>(statements.find, { id_hash: idHash }))[0];
    },
    async insert(idHash: Buffer, session: Omit<McpSessionRow, 'seen_at' | 'subscriptions'>): Promise<void> {
      await run(statements.insert, { id_hash: idHash, ...session });
    },
    /** Records that the session was used at `now`. */
    async touch(idHash: Buffer, now: number): Promise<void> {
      await run(statements.touch, { id_hash: idHash, now });
    },
    /** Adds a URI. Returns false, and adds nothing, when the session has `maxSubscriptions` other URIs. */
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
    /** The cursor is undefined before the first wait. */
    async readPosition(idHash: Buffer): Promise<McpSessionPosition> {
      const [row] = await run<{ wait_cursor: string | null; returned_ids: string[] }>(
        statements.readPosition,
        { id_hash: idHash },
      );
      return { cursor: row?.wait_cursor ?? undefined, returned: row?.returned_ids ?? [] };
    },
    /** Moves the position, never back. Adds `returned` to the returned ids, of which the newest are kept, and removes those that the position has passed. */
    async movePosition(idHash: Buffer, { cursor, returned, passed }: McpSessionMove): Promise<void> {
      await run(statements.movePosition, { id_hash: idHash, cursor: cursor ?? null, returned, passed });
    },
    /** Moves the start of the next notification stream, never back. */
    async moveStreamCursor(idHash: Buffer, cursor: string): Promise<void> {
      await run(statements.moveStreamCursor, { id_hash: idHash, cursor });
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
