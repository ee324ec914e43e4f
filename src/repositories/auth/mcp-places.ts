import { unflushedCommit } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

/** What a session, or a sign-in without sessions, has received of its agent's feed. */
export interface McpPosition {
  /** It has received everything up to here. Null before the first wait. */
  position: number | null;
  /** Ids of messages, and of other events, that it received after that position. */
  returned: readonly string[];
  /** Whether an answer may be on its way that moves the position. */
  is_answering: boolean;
  seen_at: number;
  /** The counter of the agent's feed: read with the position, it saves a query. Null when the agent has no feed. */
  last_number: number | null;
  acknowledged_number: number | null;
}

export interface McpSessionMove {
  /** Null: the position stays. */
  position: number | null;
  returned: readonly string[];
  /** Returned ids that are before the new position. */
  passed: readonly string[];
}

/** More than a waiting call leaves behind the position (`maxBehind`), for the replies beside it. */
const maxReturnedIds = 200;

const databaseNow = `(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** The columns of a position and its tables. */
export const positionColumns = `wait_position as position, returned_ids as returned, answering_until > ${databaseNow} as is_answering, seen_at, last_number, acknowledged_number`;
export const positionTables = 'mcp_sessions left join feed_heads using (agent_id)';

/** The places of waits: a part of the repository of sessions. A sign-in without sessions has a row of its own. */
export const mcpPlaceQueries = repository({
  /** The position of a session or place; without one that was seen since `seenAfter`, only the counter of the agent's feed. */
  readPosition: sql.single<
    [place: { id_hash: Buffer; agent_id: string; seen_after: number }],
    McpPosition | (Pick<McpPosition, 'last_number' | 'acknowledged_number'> & { seen_at: null })
  >(
    'mcp_sessions.read_position',
    `select ${positionColumns} from (select :agent_id as agent_id) a left join feed_heads using (agent_id)
     left join mcp_sessions on id_hash = :id_hash and seen_at >= :seen_after`,
  ),
  /** Says that an answer is on its way that moves the position, within `answerMs` at most. */
  announceMove: sql.run<[idHash: Buffer, answerMs: number]>(
    'mcp_sessions.announce_move(id_hash, answer_ms)',
    `update mcp_sessions set answering_until = ${databaseNow} + :answer_ms::bigint from ${unflushedCommit} where id_hash = :id_hash`,
  ),
  /**
   * Creates or keeps the position of a sign-in without sessions. It begins again if it was not seen since `seen_after`.
   */
  keepPlace: sql.run<
    [
      idHash: Buffer,
      place: {
        agent_id: string;
        protocol_version: string;
        now: number;
        seen_at: number;
        seen_after: number;
      },
    ]
  >(
    'mcp_sessions.keep_place(id_hash, ...)',
    `insert into mcp_sessions as s (id_hash, agent_id, protocol_version, client, created_at, seen_at)
       values (:id_hash, :agent_id, :protocol_version, '{}', :now, :seen_at)
       on conflict (id_hash) do update set seen_at = excluded.seen_at,
         wait_position = case when s.seen_at >= :seen_after then s.wait_position end,
         returned_ids = case when s.seen_at >= :seen_after then s.returned_ids else '{}' end`,
  ),
  /**
   * Moves the position, never back, because waits of one session end in any order. Ends the announcement. Adds `returned` to the returned
   * ids, of which the newest are kept, and removes those that the position has passed.
   */
  movePosition: sql.run<[idHash: Buffer, mcpSessionMove: McpSessionMove]>(
    'mcp_sessions.move_position(id_hash, ...)',
    `update mcp_sessions s set answering_until = 0, wait_position = greatest(s.wait_position, :position), returned_ids = n.ids[greatest(1, cardinality(n.ids) - ${maxReturnedIds - 1}):]
       from (select id_hash, array(select id from unnest(returned_ids) with ordinality r (id, place) where id <> all(:passed::text[]) order by place) || :returned::text[] as ids
             from mcp_sessions where id_hash = :id_hash for no key update) n
       where s.id_hash = n.id_hash`,
  ),
});
