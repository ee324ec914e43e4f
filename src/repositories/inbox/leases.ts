import { query, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { isAmong, noLease } from './claims.ts';
import { endedAttempt, endedState, leaseClock } from './lease-clock.ts';

/** A current lease. Times in milliseconds. */
export interface LeaseRow {
  /** The number of the event in the feed. */
  number: number;
  event_id: string;
  thread_id: string | null;
  /** 1 for the first lease of the item. */
  attempts: number;
  fencing_token: number;
  expires_at: number;
  /** The task of its message, if that belongs to one. */
  task_id: string | null;
}

/** An item after its lease was released. */
export interface ReleasedItem {
  state: 'ready' | 'dead';
  ready_at: number;
  attempts: number;
}

/** An item that was acknowledged. */
export interface AcknowledgedItem {
  fencing_token: number;
  /** The sequence of its message; null if it is not about a message. */
  sequence: number | null;
  /** Whether another item of its thread is ready, which may have waited for this one. */
  has_successor: boolean;
}

/** A lease that was ended, with the task of its message. */
export interface EndedLease {
  task_id: string | null;
  fencing_token: number;
}

/** The origin of tokens: a client with a credential, or a person's grant to a client. */
type TokenSource = 'client_id' | 'grant_id';

const isCurrent = `agent_id = :agent_id and state = 'leased' and expires_at > ${leaseClock}`;

/** The item is ready again, as if it had not been claimed. */
const undoClaim = `state = 'ready', attempts = i.attempts - 1, ready_at = ${leaseClock}, ${noLease()}`;

const columns = 'number, event_id, thread_id, attempts, fencing_token, expires_at, task_id';

const find = `select ${columns} from inbox_items where ${isCurrent} and fencing_token = :fencing_token`;

/**
 * Locks the leases of a filter, after their tasks. Rows are locked in the order that acknowledgements use, so that the two never deadlock.
 */
const lockedLeases = (filter: string) =>
  `locked_task as materialized (
     select id from tasks where id = any(array(select task_id from inbox_items where state = 'leased' and ${filter})) order by id for update
   ), locked as materialized (
     select agent_id, number, task_id, fencing_token from inbox_items
     where (select count(*) from locked_task) >= 0 and state = 'leased' and ${filter} order by agent_id, number for update
   )`;

/** A lease that has expired is over: its attempt counts. */
const endWhere = (filter: string) =>
  `with ${lockedLeases(`review_id is null and expires_at > ${leaseClock} and ${filter}`)}
   update inbox_items i set ${undoClaim} from locked l where i.agent_id = l.agent_id and i.number = l.number
   returning i.task_id, l.fencing_token`;

const endBy = (column: TokenSource) =>
  statement(`inbox_leases.end_by_${column}`, endWhere(`${column} = :value`));

const statements = {
  endBy: {
    client_id: endBy('client_id'),
    grant_id: endBy('grant_id'),
  },
};

/** The lease of an agent with this fencing token. */
interface LeaseKey {
  agent_id: string;
  fencing_token: number;
}

/** Writes and ends leases. Each write checks that the lease is current; without a row, it is not. */
export const inboxLeasesRepository = repository(
  {
    find: sql.row<[key: LeaseKey], LeaseRow>('inbox_leases.find', find),
    /** Finds a current lease, and locks its item until the transaction ends: no other instance gets it. */
    lock: sql.row<[key: LeaseKey], LeaseRow>('inbox_leases.lock', `${find} for no key update`),
    renew: sql.row<[key: LeaseKey, lease_ms: number], LeaseRow>(
      'inbox_leases.renew(..., lease_ms)',
      `update inbox_items set expires_at = ${leaseClock} + :lease_ms::int, updated_at = ${leaseClock}
       where ${isCurrent} and fencing_token = :fencing_token returning ${columns}`,
    ),
    /**
     * Gives the item of a current lease to the review of its reply: no instance has it, and its attempt does not count. Returns the fencing token
     * of the review. The inbox is locked before the item, as in every claim.
     */
    holdForReview: sql.value<
      [key: LeaseKey, hold: { review_id: string; hold_ms: number }],
      number | undefined
    >(
      'inbox_leases.hold_for_review(..., ...)',
      `with token as (
         update inboxes set last_fencing_token = greatest(last_fencing_token, ${leaseClock}) + 1
         where agent_id = :agent_id and exists (select from inbox_items where ${isCurrent} and fencing_token = :fencing_token)
         returning last_fencing_token
       )
       update inbox_items i set fencing_token = t.last_fencing_token, expires_at = ${leaseClock} + :hold_ms::int, attempts = i.attempts - 1,
         consumer = null, token_hash = null, client_id = null, grant_id = null, review_id = :review_id, updated_at = ${leaseClock}
       from token t where i.agent_id = :agent_id and i.state = 'leased' and i.fencing_token = :fencing_token returning i.fencing_token`,
    ),
    /** The fencing token of the review that has an item. */
    findOfReview: sql.value<[agentId: string, reviewId: string], number | undefined>(
      'inbox_leases.find_of_review(agent_id, review_id)',
      `select fencing_token from inbox_items where agent_id = :agent_id and state = 'leased' and review_id = :review_id`,
    ),
    /**
     * Removes items from the inbox; those of messages wait for the handled mark of their thread. Returns the leases that were current.
     * Rows are locked in one order, so that two of these never deadlock. Items without a message need no mark.
     */
    acknowledge: sql.rows<[agentId: string, fencingTokens: readonly number[]], AcknowledgedItem>(
      'inbox_leases.acknowledge(agent_id, fencing_tokens)',
      `with acknowledged as materialized (
         select number, thread_id, sequence, fencing_token from inbox_items
         where ${isCurrent} and fencing_token = any(:fencing_tokens::bigint[]) order by number for update
       ), removed as (
         delete from inbox_items i where ${isAmong('i', 'select number from acknowledged where sequence is null')}
       ), handled as (
         update inbox_items i set state = 'handled', ${noLease()} where ${isAmong('i', 'select number from acknowledged where sequence is not null')}
       )
       select a.fencing_token, a.sequence, exists (
         select from inbox_items n where n.agent_id = :agent_id and n.thread_id = a.thread_id and n.state = 'ready') as has_successor
       from acknowledged a`,
    ),
    /** Makes an item ready again after a delay, or dead after its last attempt. */
    release: sql.row<[key: LeaseKey, fields: { delay_ms: number; reason: string | null }], ReleasedItem>(
      'inbox_leases.release(..., ...)',
      `update inbox_items i set state = ${endedState('b.max_attempts')}, ready_at = ${leaseClock} + :delay_ms::int,
         reasons = i.reasons || ${endedAttempt(`'released'`, ':reason::text')}, ${noLease()}
       from inboxes b where b.agent_id = i.agent_id and i.agent_id = :agent_id and i.state = 'leased' and i.expires_at > ${leaseClock} and i.fencing_token = :fencing_token
       returning i.state, i.ready_at, i.attempts`,
    ),
    /**
     * Locks the leases of tasks, also those that have expired or belong to a review; with `olderThan`, of older events. One that is acknowledged
     * meanwhile is left out.
     */
    lockOfTasks: sql.rows<[agentId: string, olderThan: string | null], EndedLease>(
      'inbox_leases.lock_of_tasks(agent_id, older_than)',
      `with ${lockedLeases('agent_id = :agent_id and task_id is not null and (:older_than::text is null or event_id < :older_than)')}
       select task_id, fencing_token from locked`,
    ),
    /** Ends all leases of an agent. This and the next two do not count as attempts. */
    endOfAgent: sql.rows<[agentId: string], EndedLease>(
      'inbox_leases.end_of_agent',
      endWhere('agent_id = :agent_id'),
    ),
    /** Ends the leases of an agent that were claimed with a token (SHA-256). */
    endOfToken: sql.rows<[agentId: string, tokenHash: Buffer], EndedLease>(
      'inbox_leases.end_of_token(agent_id, token_hash)',
      endWhere('agent_id = :agent_id and token_hash = :token_hash'),
    ),
  },
  (db) => ({
    /** Ends the leases that were claimed with any token of a client or a grant. */
    endBy(column: TokenSource, value: string): Promise<EndedLease[]> {
      return query<EndedLease>(db, statements.endBy[column], { value });
    },
  }),
);
