import { type Queryable, statement } from '../queryable.ts';

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
     where b.agent_id = $1 and (a.id = $2 or a.canonical_handle = $2)`,
  ),
  list: statement(
    'blocks.list',
    `select ${columns} from blocks b join agents a on a.id = b.blocked_agent_id
     where b.agent_id = $1 and ($2::bigint is null or (b.created_at, b.blocked_agent_id) < ($2, $3))
     order by b.created_at desc, b.blocked_agent_id desc limit $4`,
  ),
  insert: statement(
    'blocks.insert',
    `insert into blocks (agent_id, blocked_agent_id, reason, created_at) values ($1, $2, $3, $4)`,
  ),
  remove: statement(
    'blocks.remove',
    `delete from blocks b using agents a
     where a.id = b.blocked_agent_id and b.agent_id = $1 and (a.id = $2 or a.canonical_handle = $2) returning a.id`,
  ),
};

/** Blocks belong to the agent that made them; the other side never learns of them. */
export function blocksRepository(db: Queryable) {
  return {
    /** By id or canonical handle of the blocked agent; also one that is hidden or retired. */
    async find(agentId: string, key: string): Promise<BlockRow | undefined> {
      return (await db.query<BlockRow>(statements.find, [agentId, key]))[0];
    },
    /** Newest first. */
    list(
      agentId: string,
      page: { before: { created_at: number; id: string } | null; limit: number },
    ): Promise<BlockRow[]> {
      const position = [page.before?.created_at ?? null, page.before?.id ?? null];
      return db.query<BlockRow>(statements.list, [agentId, ...position, page.limit]);
    },
    async insert(block: {
      agent_id: string;
      blocked_agent_id: string;
      reason: string | null;
      created_at: number;
    }): Promise<void> {
      const { agent_id, blocked_agent_id, reason, created_at } = block;
      await db.query(statements.insert, [agent_id, blocked_agent_id, reason, created_at]);
    },
    /** By id or canonical handle of the blocked agent. Whether there was such a block. */
    async remove(agentId: string, key: string): Promise<boolean> {
      return (await db.query(statements.remove, [agentId, key])).length > 0;
    },
  };
}
