import type { ApprovalDecision, ApprovalVia } from '../../../packages/core/src/domain/approvals.ts';
import { repository, sql } from '../sql.ts';
import { type StoredDecision, storedDecisions } from '../stored-decisions.ts';
import {
  type ApprovalClaim,
  approvalQueries,
  type ApprovalRow,
  type ApprovalSubject,
  type ReviewSubject,
} from './approval-queries.ts';

/** Requests of agents for approval by a person. Times are in milliseconds. */
export const approvalsRepository = repository(
  {
    ...storedDecisions<ApprovalDecision>('approvals', `state = 'pending'`),
    /** Returns false, and inserts nothing, when the same request is pending already. */
    insert: sql.hasRow<
      [
        approval: ApprovalSubject & Pick<ApprovalRow, 'id' | 'client_name' | 'created_at' | 'expires_at'>,
        claim: ApprovalClaim | null,
      ]
    >(
      'approvals.insert',
      `insert into approvals (id, agent_id, action, target, message, client_name, state, created_at, expires_at, key_hash, request_hash)
       values (:id, :agent_id, :action, :target, :message, :client_name, 'pending', :created_at, :expires_at, :key_hash, :request_hash)
       on conflict (agent_id, action, target, message) where state = 'pending' and held is null do nothing returning id`,
      (approval, claim) => ({ key_hash: null, request_hash: null, ...approval, ...claim }),
    ),
    /** Returns false, and inserts nothing, when a call under the same key waits already. */
    insertReview: sql.hasRow<
      [
        review: ReviewSubject & Pick<ApprovalRow, 'id' | 'client_name' | 'created_at' | 'expires_at'>,
        claim: ApprovalClaim | null,
      ]
    >(
      'approvals.insert_review',
      `insert into approvals (id, agent_id, action, target, message, client_name, state, created_at, expires_at, key_hash, request_hash, is_review, held, recipients)
       values (:id, :agent_id, :action, :target, :message, :client_name, 'pending', :created_at, :expires_at, :key_hash, :request_hash, true, :held::jsonb, :recipients)
       on conflict (key_hash) where state = 'pending' and held is not null do nothing returning id`,
      ({ held, ...review }, claim) => {
        return { key_hash: null, request_hash: null, ...review, ...claim, held: JSON.stringify(held) };
      },
    ),
    /** Marks the pending requests of an agent that are past their expiry as expired. */
    expire: sql.run<[agentId: string, now: number]>(
      'approvals.expire(agent_id, now)',
      `update approvals set state = 'expired', held = null, stored = null, message = case when is_review then '' else message end where agent_id = :agent_id and state = 'pending' and expires_at <= :now and effective_at is null`,
    ),
    /** Returns false when the request is not pending. The decision is valid until `good_until` at least. */
    decide: sql.hasRow<
      [
        id: string,
        decision: ApprovalDecision,
        by: {
          via: ApprovalVia;
          account_id: string | null;
          agent_id: string | null;
          now: number;
          good_until: number;
          reason: string | null;
        },
      ]
    >(
      'approvals.decide(id, decision, ...)',
      `update approvals set state = :decision, decided_by = :account_id, decided_at = :now, expires_at = greatest(expires_at, :good_until),
         decided_via = :via, decided_by_agent = :agent_id, reason = :reason, stored = null, effective_at = null,
         held = case when :decision = 'denied' then null else held end, message = case when :decision = 'denied' and is_review then '' else message end
       where id = :id and state = 'pending' and (expires_at > :now or effective_at is not null) returning id`,
    ),
    /** Stores the decision of a person, unless it is stored. Returns false when there is another one, or the request is not pending. */
    storeDecision: sql.hasRow<
      [id: string, stored: StoredDecision<ApprovalDecision>, times: { now: number; effective_at: number }]
    >(
      'approvals.store_decision(id, stored, ...)',
      `update approvals set stored = :stored::jsonb, effective_at = coalesce(effective_at, :effective_at)
       where id = :id and state = 'pending' and (effective_at is null and expires_at > :now or stored = :stored::jsonb) returning id`,
      (id, stored, times) => ({ id, stored: JSON.stringify(stored), ...times }),
    ),
    /** The call that the request allowed has run: stores its answer. The text of a review is where it was sent to. */
    storeAnswer: sql.run<[id: string, answer: string | null, now: number]>(
      'approvals.store_answer(id, answer, now)',
      `update approvals set answer = :answer, used_at = :now, held = null,
         message = case when is_review then '' else message end where id = :id`,
    ),
    /** Removes up to `limit` requests that expired before `time`; returns how many. */
    removeExpired: sql.rowCount<[time: number, limit: number]>(
      'approvals.remove_expired(time, limit)',
      `delete from approvals where id in (select id from approvals where expires_at < :time limit :limit) returning 1`,
    ),
  },
  approvalQueries,
);
