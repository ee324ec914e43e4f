import { type Queryable, statement, query } from '../queryable.ts';

export interface BlockRow {
  blocked_agent_id: string;
  blocked_handle: string;
  created_at: number;
}

const columns = 'b.blocked_agent_id, a.canonical_handle as blocked_handle, b.created_at';

const statements = {
  find: statement(
    'blocks.find',
    `select ${columns} from blocks b join agents a on a.id = b.blocked_agent_id
     where b.agent_id = :agent_id and (a.id = :key or a.canonical_handle = :key)`,
  ),
  list: statement(
    'blocks.list',
    `select ${columns} from blocks b join agents a on a.id = b.blocked_agent_id
     where b.agent_id = :agent_id and (:before_at::bigint is null or (b.created_at, b.blocked_agent_id) < (:before_at, :before_id))
     order by b.created_at desc, b.blocked_agent_id desc limit :limit`,
  ),
  insert: statement(
    'blocks.insert',
    `insert into blocks (agent_id, blocked_agent_id, reason, created_at) values (:agent_id, :blocked_agent_id, :reason, :created_at)
     returning agent_id as raised_id`,
  ),
  remove: statement(
    'blocks.remove',
    `delete from blocks b using agents a
     where a.id = b.blocked_agent_id and b.agent_id = :agent_id and (a.id = :key or a.canonical_handle = :key) returning a.id
     /* no version: it only permits */`,
  ),
};

/** Blocks belong to the agent that created them; the blocked agent never sees them. */
export function blocksRepository(db: Queryable) {
  return {
    /** By id or canonical handle of the blocked agent, which can be hidden or retired. */
    async find(agentId: string, key: string): Promise<BlockRow | undefined> {
      return (await query<BlockRow>(db, statements.find, { agent_id: agentId, key }))[0];
    },
    /** Newest first. */
    list(
      agentId: string,
      page: { before: { created_at: number; id: string } | null; limit: number },
    ): Promise<BlockRow[]> {
      return query<BlockRow>(db, statements.list, {
        agent_id: agentId,
        before_at: page.before?.created_at ?? null,
        before_id: page.before?.id ?? null,
        limit: page.limit,
      });
    },
    async insert(block: {
      agent_id: string;
      blocked_agent_id: string;
      reason: string | null;
      created_at: number;
    }): Promise<void> {
      const { agent_id, blocked_agent_id, reason, created_at } = block;
      await query(db, statements.insert, { agent_id, blocked_agent_id, reason, created_at });
    },
    /** By id or canonical handle of the blocked agent. Returns false when there is no such block. */
    async remove(agentId: string, key: string): Promise<boolean> {
      return (await query(db, statements.remove, { agent_id: agentId, key })).length > 0;
    },
  };
}
