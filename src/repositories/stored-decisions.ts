import type { ApprovalDecision } from '../../packages/core/src/domain/approvals.ts';
import { sql } from './sql.ts';

/** The decision of a person about a contact request. */
export type RequestDecision = 'approved' | 'rejected';

/** The decision of a person about an approval or a contact request, until it takes effect. */
export interface StoredDecision<Decision = ApprovalDecision | RequestDecision> {
  account_id: string;
  decision: Decision;
  /** The agent that received the contact request. */
  agent_id?: string;
  reason?: string | null | undefined;
  texts?: readonly string[] | undefined;
  trust?: boolean | undefined;
}

/** A decision that has not taken effect, or why one could not be carried out. Times are in milliseconds. */
export interface StoredState {
  effective_at: number | null;
  decision: StoredDecision['decision'] | null;
  account_id: string | null;
  failure: string | null;
  /** The texts of a review as the person edited them. */
  texts: readonly string[] | null;
}

/** A `StoredState` of the row `q`, or null. */
export const storedState = `case when q.stored is not null then json_build_object('effective_at', q.effective_at, 'decision', q.stored ->> 'decision',
    'account_id', q.stored ->> 'account_id', 'failure', q.stored ->> 'failure', 'texts', q.stored -> 'texts') end`;

/**
 * The methods of a table whose rows a person can decide in the console: `stored` has the decision, `effective_at` is when it takes effect (ms).
 * @param isPending the condition of rows that are not decided
 */
export const storedDecisions = <Decision>(table: 'approvals' | 'contact_requests', isPending: string) => ({
  /** Removes the stored decision of this person, if there is one. Returns false when the row is decided, or another person's decision is stored. */
  undoDecision: sql.hasRow<[id: string, accountId: string]>(
    `${table}.undo_decision(id, account_id)`,
    `update ${table} set stored = case when effective_at is null then stored end, effective_at = null
     where id = :id and ${isPending} and (effective_at is null or stored ->> 'account_id' = :account_id) returning id`,
  ),
  /** Stored decisions that are due, the first ones first. */
  listDueDecisions: sql.rows<[now: number, limit: number], { id: string; stored: StoredDecision }>(
    `${table}.list_due_decisions(now, limit)`,
    `select id, stored from ${table}
     where ${isPending} and stored is not null and effective_at <= :now order by effective_at limit :limit`,
  ),
  /** Returns a stored decision that is due, and locks its row until the end of the transaction. */
  takeDecision: sql.value<[id: string, now: number], StoredDecision<Decision> | undefined>(
    `${table}.take_decision(id, now)`,
    `select stored from ${table} where id = :id and ${isPending} and effective_at <= :now for update`,
  ),
  /** Removes a stored decision that is due. With the reason why it could not be carried out, if there is one, its details stay. */
  failDecision: sql.run<[id: string, stored: { failure: string } | null, now: number]>(
    `${table}.fail_decision(id, stored, now)`,
    `update ${table} set stored = (stored - 'decision') || :stored::jsonb, effective_at = null where id = :id and ${isPending} and effective_at <= :now`,
    (id, stored, now) => ({ id, stored: stored && JSON.stringify(stored), now }),
  ),
});
