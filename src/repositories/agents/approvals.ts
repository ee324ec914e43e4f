import type { ApprovalDecision, ApprovalVia } from '../../../packages/core/src/domain/approvals.ts';
import { query, type Queryable, statement } from '../queryable.ts';
import {
  type ApprovalClaim,
  approvalQueries,
  type ApprovalRow,
  type ApprovalSubject,
} from './approval-queries.ts';

const statements = {
  insert: statement(
    'approvals.insert',
    `insert into approvals (id, agent_id, action, target, message, client_name, state, created_at, expires_at, key_hash, request_hash)
     values (:id, :agent_id, :action, :target, :message, :client_name, 'pending', :created_at, :expires_at, :key_hash, :request_hash)
     on conflict (agent_id, action, target, message) where state = 'pending' do nothing returning id`,
  ),
  expire: statement(
    'approvals.expire',
    `update approvals set state = 'expired' where agent_id = :agent_id and state = 'pending' and expires_at <= :now`,
  ),
  decide: statement(
    'approvals.decide',
    `update approvals set state = :decision, decided_by = :account_id, decided_at = :now, expires_at = greatest(expires_at, :valid_until),
       decided_via = :via, decided_by_agent = :agent_id
     where id = :id and state = 'pending' and expires_at > :now returning id`,
  ),
  use: statement(
    'approvals.use',
    `update approvals set used_at = :now
     where id = :id and agent_id = :agent_id and state = 'approved' and used_at is null and expires_at > :now returning id`,
  ),
  storeAnswer: statement('approvals.store_answer', 'update approvals set answer = :answer where id = :id'),
  removeExpired: statement(
    'approvals.remove_expired',
    `delete from approvals where id in (select id from approvals where expires_at < :time limit :limit) returning 1`,
  ),
};

/** Requests of agents for approval by a person. Times are in milliseconds. */
export function approvalsRepository(db: Queryable) {
  return {
    ...approvalQueries(db),

    /** Returns false, and inserts nothing, when the same request is pending already. */
    async insert(
      approval: ApprovalSubject & Pick<ApprovalRow, 'id' | 'client_name' | 'created_at' | 'expires_at'>,
      claim: ApprovalClaim | null,
    ): Promise<boolean> {
      const { id, agent_id, action, target, message, client_name, created_at, expires_at } = approval;
      const { key_hash = null, request_hash = null } = claim ?? {};
      const about = { id, agent_id, action, target, message, client_name, created_at, expires_at };
      const values = { ...about, key_hash, request_hash };
      return (await query(db, statements.insert, values)).length > 0;
    },
    /** Marks the pending requests of an agent that are past their expiry as expired. */
    async expire(agentId: string, now: number): Promise<void> {
      await query(db, statements.expire, { agent_id: agentId, now });
    },
    /** Returns false when the request is not pending. The decision is valid until `good_until` at least. */
    async decide(
      id: string,
      decision: ApprovalDecision,
      by: {
        via: ApprovalVia;
        account_id: string | null;
        agent_id: string | null;
        now: number;
        good_until: number;
      },
    ): Promise<boolean> {
      const { via, account_id, agent_id, now, good_until } = by;
      const values = { id, decision, via, account_id, agent_id, now, valid_until: good_until };
      return (await query(db, statements.decide, values)).length > 0;
    },
    /** Marks an approved request as used. Returns false when it is not approved for this agent, or was used before. */
    async use(agentId: string, id: string, now: number): Promise<boolean> {
      return (await query(db, statements.use, { agent_id: agentId, id, now })).length > 0;
    },
    /** Stores the answer of the call that the request allowed. */
    async storeAnswer(id: string, answer: string): Promise<void> {
      await query(db, statements.storeAnswer, { id, answer });
    },
    /** Removes up to `limit` requests that expired before `time`; returns how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await query(db, statements.removeExpired, { time, limit })).length;
    },
  };
}
