import { differenceMark } from '../../../packages/core/src/domain/kept-answers.ts';
import type {
  ApprovalAction,
  ApprovalState,
  ApprovalVia,
} from '../../../packages/core/src/domain/approvals.ts';
import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { repository, sql } from '../sql.ts';
import { type StoredState, storedState } from '../stored-decisions.ts';
import { actedAsByPerson, actedAsBySamePeople } from './rights.ts';

/** A request of an agent for approval by a person. Times are in milliseconds. */
export interface ApprovalRow {
  id: string;
  agent_id: string;
  agent_handle: string;
  agent_display_name: string;
  action: ApprovalAction;
  /** Handle of the agent that the action concerns. */
  target: string;
  /** Whether the call waits because of the agent's outgoing policy. */
  is_review: boolean;
  /** Of a review: the handles of the agents of other owners. */
  recipients: string[];
  /** The message to the target; can be empty. Of a review: until it is sent. */
  message: string;
  /** The client that the agent used, as it calls itself; can be empty. */
  client_name: string;
  state: ApprovalState;
  /** Why it was denied. */
  reason: string | null;
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  /** Where it was decided. */
  decided_via: ApprovalVia | null;
  /** Username of the person who decided, where known. */
  decided_by: string | null;
  /** Handle of the agent through which it was decided. */
  decided_by_agent: string | null;
  /** When the approved action was done. */
  used_at: number | null;
  /** The decision of a person that has not taken effect, or why one could not be carried out. */
  stored: StoredState | null;
  /** The answer of the call, as JSON text. Null before it ran, and if the agent made the call itself after the decision. */
  answer: string | null;
}

/** The idempotency key of a call and the hash of its request. */
export interface ApprovalClaim {
  key_hash: Buffer;
  request_hash: Buffer;
}

/** The input of a held call, as its operation parsed it, and what a person reads of it. */
export interface StoredCall {
  input: object;
  shown: { texts: readonly string[]; attachment_ids: readonly string[]; about: string };
}

/** A call that waits for its review. */
export interface ReviewSubject extends Pick<
  ApprovalRow,
  'agent_id' | 'action' | 'target' | 'message' | 'recipients'
> {
  held: StoredCall;
}

/** The subject of an approval. Requests with equal subjects are the same. */
export type ApprovalSubject = Pick<ApprovalRow, 'agent_id' | 'action' | 'target' | 'message'>;

/** Whether a request is in effect at `:now`. The stored decision of a person keeps it past its expiry. */
const isInEffect = `(q.expires_at > :now or q.effective_at is not null)`;

/** The state at `:now`. A pending request that is not in effect is expired, whether or not its row says so yet. */
const state = `case when q.state = 'pending' and not ${isInEffect} then 'expired' else q.state end`;

const columns = `q.id, q.agent_id, a.canonical_handle as agent_handle,
  a.display_name as agent_display_name, q.action, q.target, q.message, q.client_name,
  q.is_review, q.recipients, q.reason, ${state} as state, q.created_at, q.expires_at, q.decided_at, q.decided_via, p.name as decided_by,
  d.canonical_handle as decided_by_agent, q.used_at,
  case when q.state = 'pending' then ${storedState} end as stored,
  case when q.is_review then (select k.answer from idempotency_keys k where k.key_hash = q.key_hash and q.state = 'approved' and not starts_with(k.answer, '${differenceMark}')) else q.answer end as answer`;

const joined = `approvals q join agents a on a.id = q.agent_id
  left join owners p on p.id = q.decided_by left join agents d on d.id = q.decided_by_agent`;

/** Reads approvals: a part of the approvals repository. Lists are newest first; `now` is in milliseconds. */
export const approvalQueries = repository({
  /** The number of pending requests of an agent, and when the first of them expires. */
  countPending: sql.single<[agentId: string], { count: number; first_expiry: number | null }>(
    'approvals.count_pending',
    `select count(*)::int as count, min(expires_at) as first_expiry from approvals where agent_id = :agent_id and state = 'pending'`,
  ),
  /** The latest request about this subject that is in effect: pending, denied, or approved and not used. */
  findCurrent: sql.row<[subject: ApprovalSubject, now: number], ApprovalRow>(
    'approvals.find_current(..., now)',
    `select ${columns} from ${joined}
     where q.agent_id = :agent_id and q.action = :action and q.target = :target and q.message = :message
       and not q.is_review and q.state <> 'expired' and ${isInEffect} and q.used_at is null
     order by q.id desc limit 1`,
  ),
  /** The latest request about this subject whose call has run, until the approval expires. */
  findAnswered: sql.row<[subject: ApprovalSubject, now: number], ApprovalRow>(
    'approvals.find_answered(..., now)',
    `select ${columns} from ${joined}
     where q.agent_id = :agent_id and q.action = :action and q.target = :target and q.message = :message
       and not q.is_review and q.answer is not null and q.expires_at > :now
     order by q.id desc limit 1`,
  ),
  /** The latest review of a call under this key, until it expires. */
  findReview: sql.row<
    [agentId: string, keyHash: Buffer, now: number],
    ApprovalRow & { request_hash: Buffer }
  >(
    'approvals.find_review(agent_id, key_hash, now)',
    `select ${columns}, q.request_hash from ${joined}
     where q.key_hash = :key_hash and q.agent_id = :agent_id and q.is_review and ${isInEffect} order by q.id desc limit 1`,
  ),
  /** The key of the one of these reviews that is of this request. */
  findReviewKey: sql.value<
    [agentId: string, ids: readonly string[], requestHash: Buffer],
    Buffer | undefined
  >(
    'approvals.find_review_key(agent_id, ids, request_hash)',
    'select key_hash from approvals where id = any(:ids::text[]) and agent_id = :agent_id and is_review and request_hash = :request_hash',
  ),
  /** A call that waits for its review. */
  findHeld: sql.value<[id: string], StoredCall | null | undefined>(
    'approvals.find_held',
    'select held from approvals where id = :id',
  ),
  findClaim: sql.row<[id: string], ApprovalClaim>(
    'approvals.find_claim',
    'select key_hash, request_hash from approvals where id = :id and key_hash is not null and request_hash is not null',
  ),
  find: sql.row<[id: string, now: number], ApprovalRow>(
    'approvals.find(id, now)',
    `select ${columns} from ${joined} where q.id = :id`,
  ),
  /** As find, if the account acts as the requesting agent. */
  findForPerson: sql.row<[accountId: string, id: string, now: number], ApprovalRow>(
    'approvals.find_for_person(account_id, id, now)',
    `select ${columns} from ${joined} where q.id = :id and ${actedAsByPerson(':account_id')}`,
  ),
  /** Requests of all agents that the account acts as, pending or not, with ids before `before` unless it is empty. */
  listForPerson: sql.rows<
    [accountId: string, now: number, page: { pending: boolean; before: string; limit: number }],
    ApprovalRow
  >(
    'approvals.list_for_person(account_id, now, ...)',
    `select ${columns} from ${joined}
     where ${actedAsByPerson(':account_id')} and (${state} = 'pending') = :pending and (:before = '' or q.id < :before)
     order by q.id desc limit :limit`,
  ),
  /** Requests of these agents about these targets (handles) since a time (ms). */
  listBetween: sql.rows<
    [
      agentIds: readonly string[],
      targets: readonly string[],
      page: { since: number; now: number; limit: number },
    ],
    ApprovalRow
  >(
    'approvals.list_between',
    `select ${columns} from ${joined}
     where q.agent_id = any(:agent_ids::text[]) and q.target = any(:targets::text[]) and q.id >= :since_id
     order by q.id desc limit :limit`,
    (agentIds, targets, { since, now, limit }) => ({
      agent_ids: agentIds,
      targets,
      since_id: minIdAt('approval', since),
      now,
      limit,
    }),
  ),
  /** As find, if the requesting agent is another agent that the same people act as. */
  findForAgent: sql.row<[agentId: string, id: string, now: number], ApprovalRow>(
    'approvals.find_for_agent(agent_id, id, now)',
    `select ${columns} from agents me, ${joined}
     where q.id = :id and me.id = :agent_id and ${actedAsBySamePeople}`,
  ),
  /** Requests that findForAgent finds, in one state unless it is null, with ids before `before` unless it is empty. */
  listForAgent: sql.rows<
    [agentId: string, now: number, filter: { state: ApprovalState | null; before: string; limit: number }],
    ApprovalRow
  >(
    'approvals.list_for_agent(agent_id, now, ...)',
    `select ${columns} from agents me, ${joined}
     where me.id = :agent_id and ${actedAsBySamePeople} and (:state::text is null or ${state} = :state)
       and (:before = '' or q.id < :before)
     order by q.id desc limit :limit`,
  ),
  /** The latest requests of an agent. */
  listOfAgent: sql.rows<[agentId: string, now: number, limit: number], ApprovalRow>(
    'approvals.list_of_agent(agent_id, now, limit)',
    `select ${columns} from ${joined} where q.agent_id = :agent_id order by q.id desc limit :limit`,
  ),
});
