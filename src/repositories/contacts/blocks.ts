import { repository, sql } from '../sql.ts';

export interface BlockRow {
  blocked_agent_id: string;
  blocked_handle: string;
  created_at: number;
}

const columns = 'b.blocked_agent_id, a.canonical_handle as blocked_handle, b.created_at';

/** Blocks belong to the agent that created them; the blocked agent never sees them. */
export const blocksRepository = repository({
  /** By id or canonical handle of the blocked agent, which can be hidden or retired. */
  find: sql.row<[agentId: string, key: string], BlockRow>(
    'blocks.find(agent_id, key)',
    `select ${columns} from blocks b join agents a on a.id = b.blocked_agent_id
     where b.agent_id = :agent_id and (a.id = :key or a.canonical_handle = :key)`,
  ),
  /** Newest first. */
  list: sql.rows<
    [agentId: string, page: { before: { created_at: number; id: string } | null; limit: number }],
    BlockRow
  >(
    'blocks.list',
    `select ${columns} from blocks b join agents a on a.id = b.blocked_agent_id
     where b.agent_id = :agent_id and (:before_at::bigint is null or (b.created_at, b.blocked_agent_id) < (:before_at, :before_id))
     order by b.created_at desc, b.blocked_agent_id desc limit :limit`,
    (agentId, page) => ({
      agent_id: agentId,
      before_at: page.before?.created_at ?? null,
      before_id: page.before?.id ?? null,
      limit: page.limit,
    }),
  ),
  insert: sql.run<
    [
      block: {
        agent_id: string;
        blocked_agent_id: string;
        reason: string | null;
        created_at: number;
      },
    ]
  >(
    'blocks.insert',
    `insert into blocks (agent_id, blocked_agent_id, reason, created_at) values (:agent_id, :blocked_agent_id, :reason, :created_at)
     returning agent_id as raised_id`,
  ),
  /** By id or canonical handle of the blocked agent. Returns false when there is no such block. */
  remove: sql.hasRow<[agentId: string, key: string]>(
    'blocks.remove(agent_id, key)',
    `delete from blocks b using agents a
     where a.id = b.blocked_agent_id and b.agent_id = :agent_id and (a.id = :key or a.canonical_handle = :key) returning a.id
     /* no version: it only permits */`,
  ),
});
