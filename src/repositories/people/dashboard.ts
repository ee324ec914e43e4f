import type { DisabledReason } from '../../../packages/core/src/domain/webhooks.ts';
import { repository, sql } from '../sql.ts';
import { type StoredState, storedState } from '../stored-decisions.ts';
import { actedAsByPerson } from '../agents/rights.ts';

/** More dead items of one inbox are not counted. */
const maxCountedItems = 100;

/** A pending contact request to an agent. */
export interface IncomingRequestRow {
  request_id: string;
  message: string | null;
  created_at: number;
  from_handle: string;
  from_name: string;
  agent_id: string;
  agent_handle: string;
  paused: boolean;
  stored: StoredState | null;
}

/** A webhook whose receiver fails. */
export interface FailingWebhookRow {
  id: string;
  agent_id: string;
  agent_handle: string;
  url: string;
  description: string;
  /** Null: deliveries are tried again. */
  disabled_at: number | null;
  disabled_reason: DisabledReason | null;
  /** The last attempt of a delivery that is tried again. */
  last_attempt_at: number | null;
  last_status: number | null;
  last_error: string | null;
}

/** Which first steps a person has taken. */
export interface FirstStepsRow {
  has_agent: boolean;
  /** Whether an app or a credential has signed in. */
  has_connected: boolean;
  /** Whether one of the agents is in a thread with a message. */
  has_message: boolean;
}

/** An agent whose inbox has dead items. */
export interface DeadInboxRow {
  agent_id: string;
  agent_handle: string;
  agent_name: string;
  /** The number of dead items, at most 100. */
  dead: number;
  /** When the first of them became dead, in milliseconds. */
  since: number;
}

/** Numbers for a person's dashboard, over all agents that the person acts as. */
export const dashboardRepository = repository({
  /** The number of pending approvals at `now` (ms) that no person has decided. */
  countApprovals: sql.value<[accountId: string, now: number], number>(
    'dashboard.count_approvals(account_id, now)',
    `select count(*)::int as count from approvals q join agents a on a.id = q.agent_id
     where ${actedAsByPerson(':account_id')} and q.state = 'pending' and q.expires_at > :now and q.effective_at is null`,
  ),
  /** The number of connected clients at `now` (ms). */
  countConnections: sql.value<[accountId: string, now: number], number>(
    'dashboard.count_connections(account_id, now)',
    `select count(*)::int as count from client_grants where account_id = :account_id and expires_at > :now`,
  ),
  /** Up to `limit` pending contact requests to these agents, oldest first. */
  listRequests: sql.rows<[accountId: string, limit: number], IncomingRequestRow>(
    'dashboard.list_requests(account_id, limit)',
    `select q.id as request_id, q.message, q.created_at, f.canonical_handle as from_handle, f.display_name as from_name,
       a.id as agent_id, a.canonical_handle as agent_handle, a.paused, ${storedState} as stored
     from agents a join contact_requests q on q.to_agent_id = a.id join agents f on f.id = q.from_agent_id
     where ${actedAsByPerson(':account_id')} and q.status = 'pending' and f.retired_at is null
       and not exists (select from blocks b where b.agent_id = a.id and b.blocked_agent_id = f.id)
     order by q.created_at limit :limit`,
  ),
  /** Up to `limit` webhooks of these agents whose receiver fails: those that were disabled for it first, oldest first. */
  listFailingWebhooks: sql.rows<[accountId: string, limit: number], FailingWebhookRow>(
    'dashboard.list_failing_webhooks(account_id, limit)',
    // The delivery that waits longest for its next attempt has failed most often.
    `select w.id, w.agent_id, a.canonical_handle as agent_handle, w.url, w.description, w.disabled_at, w.disabled_reason,
       d.last_attempt_at, d.last_status, d.last_error
     from agents a join webhooks w on w.agent_id = a.id left join lateral (
       select attempts, last_attempt_at, last_status, last_error from webhook_deliveries
       where webhook_id = w.id and state = 'pending' order by next_at desc limit 1) d on w.enabled
     where ${actedAsByPerson(':account_id')}
       and (d.attempts > 0 or (not w.enabled and w.disabled_reason in ('gone', 'failing')))
     order by w.disabled_at, w.id limit :limit`,
  ),
  /** Which first steps the person has taken. */
  findFirstSteps: sql.single<[accountId: string], FirstStepsRow>(
    'dashboard.find_first_steps',
    `select exists (select from agents a where ${actedAsByPerson(':account_id')}) as has_agent,
       exists (select from client_grants where account_id = :account_id) or exists (
         select from agents a join credentials c on c.agent_id = a.id where ${actedAsByPerson(':account_id')} and c.last_used_at is not null
       ) as has_connected,
       exists (
         select from agents a join thread_members m on m.agent_id = a.id join threads t on t.id = m.thread_id
         where ${actedAsByPerson(':account_id')} and t.last_sequence > 0) as has_message`,
  ),
  /** Up to `limit` of these agents with dead items, the longest dead first. */
  listDeadInboxes: sql.rows<[accountId: string, limit: number], DeadInboxRow>(
    'dashboard.list_dead_inboxes(account_id, limit)',
    `select a.id as agent_id, a.canonical_handle as agent_handle, a.display_name as agent_name, d.dead, d.since
     from agents a join inboxes b on b.agent_id = a.id cross join lateral (
       select count(*)::int as dead, min(i.updated_at) as since from (
         select updated_at from inbox_items where agent_id = a.id and state = 'dead' order by number limit ${maxCountedItems}) i
     ) d
     where ${actedAsByPerson(':account_id')} and d.dead > 0 order by d.since limit :limit`,
  ),
});
