import { maxLeases } from '../../../packages/core/src/domain/inbox.ts';
import { query, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { endedState, expiredAttempt, isExpired, leaseClock } from './lease-clock.ts';
import { wantedEntries } from './wanted-entries.ts';

/** A feed entry. */
interface Entry {
  number: number;
  event_id: string;
}

/** A lease as a claim returns it. Times in milliseconds. */
export interface ClaimedItem {
  /** The number of the event in the feed. */
  number: number;
  event_id: string;
  sender_id: string | null;
  /** 1 for the first lease of the item. */
  attempts: number;
  fencing_token: number;
  expires_at: number;
  /** The task of its message, if the agent is asked in one. */
  task_id: string | null;
}

/** The token of a claim. */
export interface LockedToken {
  token_hash: Buffer;
  grant_id: string | null;
  /** The name of its credential or app, at most 64 characters. */
  client_name: string;
}

/** An item after its lease expired. */
export interface EndedItem {
  state: 'ready' | 'dead';
  event_id: string;
  /** When its lease expired, in milliseconds. */
  ended_at: number;
  task_id: string | null;
  /** Of the lease that expired. */
  fencing_token: number;
}

/** The instance that claims: its name and its token. */
export interface Holder {
  consumer: string;
  token_hash: Buffer;
  client_id: string;
  grant_id: string | null;
}

/** Sets the columns of a lease to those of an item without one, as of a time. */
export const noLease = (at = leaseClock): string =>
  `fencing_token = null, expires_at = null, consumer = null, token_hash = null, client_id = null, grant_id = null, review_id = null, updated_at = ${at}`;

const lockTokens = `
  select t.token_hash, t.grant_id, left(coalesce(nullif(c.name, ''), g.client_name, t.client_id), 64) as client_name
  from access_tokens t left join credentials c on c.client_id = t.client_id left join client_grants g on g.grant_id = t.grant_id
  where t.token_hash = any(:token_hashes::bytea[]) for key share of t`;

/**
 * In the threads of these items, which no longer wait: the oldest item that waits, if it is queued. The statement has not changed the items
 * yet, so they are left out. The limits make the planner look up items by thread.
 */
const nextQueued = (items: string): string =>
  `select n.number from (select distinct thread_id from ${items} where thread_id is not null) t cross join lateral (
     select n.number, n.state from inbox_items n
     where n.agent_id = :agent_id and n.thread_id = t.thread_id and n.state in ('queued', 'ready') and n.number not in (select number from ${items})
     order by n.number limit 1
   ) n
   where n.state = 'queued'`;

/**
 * The condition that an item is one of those of a query. The numbers are an array, because without statistics of the agent the planner
 * joins a few items to all items of the agent.
 */
export const isAmong = (item: string, numbers: string): string =>
  `${item}.agent_id = :agent_id and ${item}.number = any(array(${numbers}))`;

/**
 * Locks the open tasks of these items before the items. A task that another transaction has locked is skipped: its items are not touched, so
 * claims never wait for tasks. Tasks that have ended need no lock.
 */
const lockTasks = (items: string): string =>
  `locked_task as materialized (
     select id from tasks where id = any(array(select task_id from ${items} where task_id is not null)) and ended_at is null
     order by id for update skip locked
   )`;

/** For an item `i`: whether it has no open task, or a locked one. A task that has ended can be removed, by its age or with its client. */
const isTaskReady = `(i.task_id in (select id from locked_task) or not exists (select from tasks t where t.id = i.task_id and t.ended_at is null))`;

/** Marks the items of canceled tasks `t`, which are to be removed: no claim returns them. */
export const dropCanceled = (tasks: string): string =>
  `update inbox_items i set is_obsolete = true from ${tasks} t
   where t.state = 'canceled' and i.agent_id = t.agent_id and i.thread_id = t.thread_id and i.task_id = t.id`;

/** For an item `i`: whether no agent has to handle it any more. */
const isDropped = `(i.is_obsolete or exists (select from tasks t where t.id = i.task_id and t.state = 'canceled'))`;

const statements = {
  lockTokens: statement('inbox_claims.lock_tokens', lockTokens),
  lockFreeTokens: statement('inbox_claims.lock_free_tokens', `${lockTokens} skip locked`),
  /**
   * The caller has locked the inbox, so no other claim runs. In order of threads, an item is free if it is the oldest of its thread that is not
   * dealt with, and no other item of the thread is leased, such as a newer one that was leased while this one was dead. The next queued item of
   * the thread is then ready, and free after the lease.
   *
   * Fencing tokens are not less than the clock: they grow even after the inbox was turned off and on, or the database was restored.
   */
  claim: statement(
    'inbox_claims.claim',
    `with room as materialized (
       select least(:max::int, ${maxLeases} - count(*)) as leases from inbox_items where agent_id = :agent_id and state = 'leased'
     ), candidate as materialized (
       select i.number, i.thread_id, i.task_id from inbox_items i
       where i.agent_id = :agent_id and i.state = 'ready' and i.ready_at <= ${leaseClock} and i.event_type = any(:types::text[])
         and (i.thread_id is null or not :ordered::boolean or (
           i.thread_id not in (select l.thread_id from inbox_items l where l.agent_id = :agent_id and l.state = 'leased' and l.thread_id is not null)
           and not exists (
             select from inbox_items o where o.agent_id = i.agent_id and o.thread_id = i.thread_id and o.number < i.number and o.state in ('queued', 'ready'))))
         and exists (select from agents a where a.id = :agent_id and not a.paused and a.retired_at is null)
       order by i.number limit (select greatest(0, leases) from room)
     ), ${lockTasks('candidate')}, free as materialized (
       select i.number, i.thread_id from inbox_items i
       where ${isAmong('i', 'select number from candidate')} and i.state = 'ready' and not ${isDropped} and ${isTaskReady}
       order by i.number for update of i skip locked
     ), dropped as materialized (
       delete from inbox_items i where ${isAmong('i', 'select number from candidate')} and i.state = 'ready'
         and ${isDropped}
       returning i.number, i.thread_id
     ), gone as materialized (
       select number, thread_id from free union all select number, thread_id from dropped
     ), numbered as (
       select number, row_number() over (order by number) as place from free
     ), token as (
       update inboxes set last_fencing_token = greatest(last_fencing_token, ${leaseClock}) + (select count(*) from free)
       where agent_id = :agent_id and exists (select from free)
       returning last_fencing_token - (select count(*) from free) as before
     ), promoted as (
       update inbox_items q set state = 'ready' where ${isAmong('q', nextQueued('gone'))}
     )
     update inbox_items i set state = 'leased', attempts = i.attempts + 1, fencing_token = t.before + n.place, expires_at = ${leaseClock} + :lease_ms::int,
       consumer = :consumer, token_hash = :token_hash::bytea, client_id = :client_id, grant_id = :grant_id, updated_at = ${leaseClock}
     from numbered n, token t where ${isAmong('i', 'select number from free')} and i.number = n.number
     returning i.number, i.event_id, i.sender_id, i.attempts, i.fencing_token, i.expires_at, i.task_id`,
  ),
};

/** Claims items of locked inboxes. */
export const inboxClaimsRepository = repository(
  {
    /**
     * Ends leases that have expired: their items are ready again, or dead after `max_attempts` attempts. Returns those items. A lease
     * whose row is locked is being written by its holder, before it expired.
     */
    endExpired: sql.rows<[agentId: string, max_attempts: number], EndedItem>(
      'inbox_claims.end_expired(agent_id, max_attempts)',
      `with found as materialized (
         select i.task_id from inbox_items i where i.agent_id = :agent_id and ${isExpired}
       ), ${lockTasks('found')}, expired as (
         select i.number, i.fencing_token from inbox_items i where i.agent_id = :agent_id and ${isExpired}
           and ${isTaskReady}
         for update skip locked
       )
       update inbox_items i set state = ${endedState(':max_attempts::int')}, ready_at = ${leaseClock},
         reasons = i.reasons || ${expiredAttempt}, ${noLease('i.expires_at')}
       from expired e where i.agent_id = :agent_id and i.number = e.number returning i.state, i.event_id, i.updated_at as ended_at, i.task_id, e.fencing_token`,
    ),
    /** The next agents by id with leases that have expired. Looks at all current leases. */
    listAgentsWithExpired: sql.values<[after: string, limit: number], string>(
      'inbox_claims.list_agents_with_expired(after, limit)',
      `select distinct i.agent_id from inbox_items i where ${isExpired} and i.agent_id > :after order by i.agent_id limit :limit`,
    ),
    /**
     * Copies feed entries as items, those that the inbox wants, and moves its position. Entries that are items already stay as they are.
     * With `ordered_by_thread`, an item is queued if an older item of its thread waits. So each queued item has an older ready one, and
     * claims look only at ready items.
     */
    materialize: sql.run<[agentId: string, fields: { entries: readonly Entry[]; position: number }]>(
      'inbox_claims.materialize',
      `with entry as (
         select * from unnest(:numbers::bigint[], :event_ids::text[]) n (number, event_id)
       ), wanted as (
         select w.*, b.ordered_by_thread and w.thread_id is not null as is_ordered, row_number() over (partition by w.thread_id order by w.number) as place
         from inboxes b cross join entry n cross join lateral (${wantedEntries}) w
         where b.agent_id = :agent_id and not exists (select from inbox_items i where i.agent_id = :agent_id and i.number = n.number offset 0)
       ), item as (
         insert into inbox_items (agent_id, number, event_id, event_type, thread_id, sequence, sender_id, task_id, state, ready_at, updated_at)
         select :agent_id, w.number, w.event_id, w.type, w.thread_id, w.sequence, w.sender_id,
           (select max(k.task_id) from task_messages k join tasks t on t.id = k.task_id where k.message_id = w.message_id and t.agent_id = :agent_id), case when w.is_ordered and (w.place > 1 or exists (
           select from inbox_items o where o.agent_id = :agent_id and o.thread_id = w.thread_id and o.number < w.number and o.state in ('queued', 'ready')
         )) then 'queued' else 'ready' end, ${leaseClock}, ${leaseClock}
         from wanted w
       )
       update inboxes set position = :position where agent_id = :agent_id`,
      (agentId, { entries, position }) => ({
        agent_id: agentId,
        numbers: entries.map(({ number }) => number),
        event_ids: entries.map(({ event_id }) => event_id),
        position,
      }),
    ),
    /** The number of leases of an agent. */
    countLeases: sql.value<[agentId: string], number>(
      'inbox_claims.count_leases',
      `select count(*)::int as leases from inbox_items where agent_id = :agent_id and state = 'leased'`,
    ),
  },
  (db) => ({
    /**
     * Locks tokens (SHA-256), so that each is revoked before or after this transaction. Those that were revoked are missing.
     * @param options.wait whether to wait for a token that another transaction has locked. If not, it is missing, too.
     */
    lockTokens(tokenHashes: readonly Buffer[], { wait }: { wait: boolean }): Promise<LockedToken[]> {
      return query(db, wait ? statements.lockTokens : statements.lockFreeTokens, {
        token_hashes: tokenHashes,
      });
    },
    /** Leases the oldest items that are free, oldest first. None to a paused agent, or beyond the maximum of leases. */
    async claim(
      agentId: string,
      options: {
        max: number;
        types: readonly string[];
        ordered: boolean;
        lease_ms: number;
        holder: Holder;
      },
    ): Promise<ClaimedItem[]> {
      const { holder, ...rest } = options;
      const rows = await query<ClaimedItem>(db, statements.claim, { agent_id: agentId, ...rest, ...holder });
      return rows.toSorted((a, b) => a.number - b.number);
    },
  }),
);
