import type { Counts, ErasureStage } from '../../../packages/core/src/domain/agents/erasure-and-export.ts';
import { type Queryable, statement, query } from '../queryable.ts';

export interface ErasureRow {
  id: string;
  agent_id: string;
  handle: string;
  /** The person who requested it; null for an operator. */
  account_id: string | null;
  stage: ErasureStage;
  /** The id of the last message that was examined. */
  looked_after: string;
  /** How many messages, of all agents, were examined. */
  examined: number;
  /** Storage keys of files whose rows are deleted and whose bytes are not. */
  doomed_keys: string[];
  counts: Counts;
  /** Times are in milliseconds. */
  created_at: number;
  updated_at: number;
  done_at: number | null;
}

const columns =
  'id, agent_id, handle, account_id, stage, looked_after, examined, doomed_keys, counts, created_at, updated_at, done_at';

const statements = {
  find: statement('erasures.find', `select ${columns} from erasures where id = :id`),
  lock: statement('erasures.lock', `select ${columns} from erasures where id = :id for update`),
  findLast: statement(
    'erasures.find_last',
    `select ${columns} from erasures where agent_id = :agent_id order by id desc limit 1`,
  ),
  list: statement(
    'erasures.list',
    `select ${columns} from erasures where account_id = :account_id and (:before = '' or id < :before) order by id desc limit :limit`,
  ),
  insert: statement(
    'erasures.insert',
    `insert into erasures (id, agent_id, handle, account_id, stage, created_at, updated_at) values (:id, :agent_id, :handle, :account_id, 'belongings', :created_at, :created_at)
     on conflict (agent_id) where done_at is null do nothing`,
  ),
  update: statement(
    'erasures.update',
    `update erasures set stage = :stage, looked_after = :looked_after, examined = :examined, doomed_keys = :doomed_keys, counts = :counts, updated_at = :updated_at, done_at = :done_at
     where id = :id`,
  ),
};

export function erasuresRepository(db: Queryable) {
  return {
    async find(id: string): Promise<ErasureRow | undefined> {
      return (await query<ErasureRow>(db, statements.find, { id }))[0];
    },
    /** As find, and locks it until the transaction ends. */
    async lock(id: string): Promise<ErasureRow | undefined> {
      return (await query<ErasureRow>(db, statements.lock, { id }))[0];
    },
    /** The latest erasure of an agent. */
    async findLast(agentId: string): Promise<ErasureRow | undefined> {
      return (await query<ErasureRow>(db, statements.findLast, { agent_id: agentId }))[0];
    },
    /** Erasures that a person requested, newest first, with ids before `before` unless it is empty. */
    list(accountId: string, before: string, limit: number): Promise<ErasureRow[]> {
      return query<ErasureRow>(db, statements.list, { account_id: accountId, before, limit });
    },
    /** Does nothing when an erasure of this agent is in progress. */
    async insert(
      erasure: Pick<ErasureRow, 'id' | 'agent_id' | 'handle' | 'account_id' | 'created_at'>,
    ): Promise<void> {
      const { id, agent_id, handle, account_id, created_at } = erasure;
      await query(db, statements.insert, { id, agent_id, handle, account_id, created_at });
    },
    async update(erasure: ErasureRow): Promise<void> {
      const { id, stage, looked_after, examined, doomed_keys, counts, updated_at, done_at } = erasure;
      await query(db, statements.update, {
        id,
        stage,
        looked_after,
        examined,
        doomed_keys,
        counts: JSON.stringify(counts),
        updated_at,
        done_at,
      });
    },
  };
}
