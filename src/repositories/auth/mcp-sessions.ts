import { databaseError } from '../errors.ts';
import { type McpPosition, mcpPlaceQueries, positionColumns, positionTables } from './mcp-places.ts';
import { type Queryable, unflushedCommit } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

/** What a client sent to initialize the session. */
export interface McpClient {
  name: string;
  version: string;
  /** The elicitation modes that the client supports (MCP, Elicitation). */
  elicitation: ('form' | 'url')[];
  /** The minimum log level (MCP, Logging); absent: no log messages. */
  log_level?: LogLevel | undefined;
  /** Whether the client shows views of results (MCP Apps). */
  has_views?: boolean;
}

type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

export interface McpSessionRow extends McpPosition {
  agent_id: string;
  protocol_version: string;
  client: McpClient;
  /** URIs of the resources that it subscribed to. */
  subscriptions: string[];
  created_at: number;
  /** Where a notification stream without Last-Event-ID starts: at the start of the session, or after what its streams have sent. */
  stream_position: number | null;
  /** The newest notification stream, which alone receives. */
  stream_number: number;
}

/** The subscriptions of a session without these. */
const without = (uris: string) =>
  `array(select uri from unnest(subscriptions) with ordinality s (uri, place) where uri <> all(${uris}::text[]) order by place)`;

const createRepository = repository(
  {
    find: sql.row<[idHash: Buffer], McpSessionRow>(
      'mcp_sessions.find',
      `select agent_id, protocol_version, client, subscriptions, created_at, stream_position, stream_number, ${positionColumns}
       from ${positionTables} where id_hash = :id_hash`,
    ),
    insert: sql.run<
      [idHash: Buffer, session: Omit<McpSessionRow, keyof McpPosition | 'subscriptions' | 'stream_number'>]
    >(
      'mcp_sessions.insert(id_hash, ...)',
      `insert into mcp_sessions (id_hash, agent_id, protocol_version, client, created_at, seen_at, stream_position)
       values (:id_hash, :agent_id, :protocol_version, :client, :created_at, :created_at, :stream_position)`,
    ),
    /** Records that the session was used at `now`. */
    touch: sql.run<[idHash: Buffer, now: number]>(
      'mcp_sessions.touch(id_hash, now)',
      'update mcp_sessions set seen_at = :now where id_hash = :id_hash and seen_at < :now',
    ),
    /** Adds a URI in place of others. Returns false, and changes nothing, when the session has `maxSubscriptions` further URIs. */
    subscribe: sql.hasRow<
      [idHash: Buffer, uri: string, replaced: readonly string[], maxSubscriptions: number]
    >(
      'mcp_sessions.subscribe(id_hash, uri, replaced, max_subscriptions)',
      `update mcp_sessions set subscriptions = array_append(${without(':replaced')}, :uri)
       where id_hash = :id_hash and cardinality(${without(':replaced')}) < :max_subscriptions returning 1`,
    ),
    /** Removes these URIs. */
    unsubscribe: sql.run<[idHash: Buffer, uris: readonly string[]]>(
      'mcp_sessions.unsubscribe(id_hash, uris)',
      `update mcp_sessions set subscriptions = ${without(':uris')} where id_hash = :id_hash`,
    ),
    setLogLevel: sql.run<[idHash: Buffer, level: string]>(
      'mcp_sessions.set_log_level(id_hash, level)',
      "update mcp_sessions set client = client || jsonb_build_object('log_level', :level::text) where id_hash = :id_hash",
    ),
    /** Makes a new notification stream the one that receives. Undefined if the session has ended. */
    takeStream: sql.row<[idHash: Buffer], Pick<McpSessionRow, 'stream_number' | 'stream_position'>>(
      'mcp_sessions.take_stream',
      'update mcp_sessions set stream_number = stream_number + 1 where id_hash = :id_hash returning stream_number, stream_position',
    ),
    /**
     * Records what a stream is about to send. Returns the subscriptions; undefined if a newer stream receives or the session has ended.
     * Without a flush: after a crash of the database, the stream sends some notifications again.
     */
    claimNotifications: sql.value<
      [idHash: Buffer, streamNumber: number, position: number],
      string[] | undefined
    >(
      'mcp_sessions.claim_notifications(id_hash, stream_number, position)',
      `update mcp_sessions set stream_position = greatest(stream_position, :position) from ${unflushedCommit}
       where id_hash = :id_hash and stream_number = :stream_number returning subscriptions`,
    ),
    remove: sql.run<[idHash: Buffer]>(
      'mcp_sessions.remove',
      'delete from mcp_sessions where id_hash = :id_hash',
    ),
    removeOfAgent: sql.run<[agentId: string]>(
      'mcp_sessions.remove_of_agent',
      'delete from mcp_sessions where agent_id = :agent_id',
    ),
    /** Removes up to `limit` sessions that were last used before `time`; returns how many. */
    removeBefore: sql.rowCount<[time: number, limit: number]>(
      'mcp_sessions.remove_before(time, limit)',
      `delete from mcp_sessions where id_hash in (select id_hash from mcp_sessions where seen_at < :time limit :limit)
       returning 1`,
    ),
  },
  mcpPlaceQueries,
);

/** MCP sessions. They are used outside of units of work, so database errors are converted to domain errors here. Times are in milliseconds. */
export function mcpSessionsRepository(db: Queryable) {
  return createRepository({
    async query(statement, values) {
      try {
        return await db.query(statement, values);
      } catch (error) {
        throw databaseError(error);
      }
    },
  });
}
