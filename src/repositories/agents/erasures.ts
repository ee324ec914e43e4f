import type { Counts, ErasureStage } from '../../domain/agents/erasure-and-export.ts';
import { type Queryable, statement } from '../queryable.ts';

export interface ErasureRow {
  id: string;
  agent_id: string;
  handle: string;
  /** The person who wanted it; null when an operator did. */
  account_id: string | null;
  stage: ErasureStage;
  /** The last message, of all, that was looked at. */
  looked_after: string;
  /** How many messages of everybody were looked at. */
  examined: number;
  /** Where bytes lie whose rows are gone already. */
  doomed_keys: string[];
  counts: Counts;
  /** Milliseconds, as the others. */
  created_at: number;
  updated_at: number;
  done_at: number | null;
}

const columns =
  'id, agent_id, handle, account_id, stage, looked_after, examined, doomed_keys, counts, created_at, updated_at, done_at';

const statements = {
  find: statement('erasures.find', `select ${columns} from erasures where id = $1`),
  lock: statement('erasures.lock', `select ${columns} from erasures where id = $1 for update`),
  findLast: statement(
    'erasures.find_last',
    `select ${columns} from erasures where agent_id = $1 order by id desc limit 1`,
  ),
  list: statement(
    'erasures.list',
    `select ${columns} from erasures where account_id = $1 and ($2 = '' or id < $2) order by id desc limit $3`,
  ),
  insert: statement(
    'erasures.insert',
    `insert into erasures (id, agent_id, handle, account_id, stage, created_at, updated_at) values ($1, $2, $3, $4, 'belongings', $5, $5)
     on conflict (agent_id) where done_at is null do nothing`,
  ),
  update: statement(
    'erasures.update',
    `update erasures set stage = $2, looked_after = $3, examined = $4, doomed_keys = $5, counts = $6, updated_at = $7, done_at = $8
     where id = $1`,
  ),
};

export function erasuresRepository(db: Queryable) {
  return {
    async find(id: string): Promise<ErasureRow | undefined> {
      return (await db.query<ErasureRow>(statements.find, [id]))[0];
    },
    /** As find, and holds it until the transaction ends. */
    async lock(id: string): Promise<ErasureRow | undefined> {
      return (await db.query<ErasureRow>(statements.lock, [id]))[0];
    },
    /** The latest one of an agent. */
    async findLast(agentId: string): Promise<ErasureRow | undefined> {
      return (await db.query<ErasureRow>(statements.findLast, [agentId]))[0];
    },
    /** What a person wanted erased, newest first, before this id. */
    list(accountId: string, before: string, limit: number): Promise<ErasureRow[]> {
      return db.query<ErasureRow>(statements.list, [accountId, before, limit]);
    },
    /** Does nothing when one of this agent is under way. */
    async insert(
      erasure: Pick<ErasureRow, 'id' | 'agent_id' | 'handle' | 'account_id' | 'created_at'>,
    ): Promise<void> {
      const { id, agent_id, handle, account_id, created_at } = erasure;
      await db.query(statements.insert, [id, agent_id, handle, account_id, created_at]);
    },
    async update(erasure: ErasureRow): Promise<void> {
      const { id, stage, looked_after, examined, doomed_keys, counts, updated_at, done_at } = erasure;
      await db.query(statements.update, [
        id,
        stage,
        looked_after,
        examined,
        doomed_keys,
        JSON.stringify(counts),
        updated_at,
        done_at,
      ]);
    },
  };
}
