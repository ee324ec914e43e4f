import type { NextItem } from '../../../packages/core/src/domain/inbox.ts';
import { hideFromPlanner } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { leaseClock, stateNow } from './lease-clock.ts';
import { wantedEntries } from './wanted-entries.ts';

/** The settings of an inbox, and how far its feed was searched for items. Times in milliseconds. */
export interface InboxRow {
  agent_id: string;
  types: string[];
  lease_seconds: number;
  max_attempts: number;
  ordered_by_thread: boolean;
  /** The number of the last feed entry that was searched. */
  position: number;
  created_at: number;
  updated_at: number;
}

/** An inbox as a claim reads it. */
export interface LockedInbox extends InboxRow {
  /** The last number of the feed. */
  last_number: number;
  paused: boolean;
}

/** Items of an inbox by state; those that wait for an older one of their thread, or whose lease expired, are ready or dead, too. */
export interface InboxCounts {
  ready: number;
  leased: number;
  /** Items whose reply waits for its review. */
  in_review: number;
  dead: number;
  /** The event of the oldest item that is ready or leased; null if there is none. Its id has the time. */
  oldest_event_id: string | null;
}

/** An instance of the agent that has claimed items. */
export interface ConsumerRow {
  name: string;
  last_claim_at: number;
  /** Its leases now. */
  leased: number;
}

/** For `inbox_items i`: items by state, from their rows. */
export const itemCounts = `
  select count(*) filter (where s.state in ('queued', 'ready'))::int as ready, count(*) filter (where s.state = 'leased' and i.review_id is null)::int as leased,
    count(*) filter (where s.state = 'leased' and i.review_id is not null)::int as in_review,
    count(*) filter (where s.state = 'dead')::int as dead, min(i.event_id) filter (where s.state <> 'dead') as oldest_event_id
  from inbox_items i cross join lateral (select ${stateNow} as state) s`;

const columns = `b.agent_id, b.types, b.lease_seconds, b.max_attempts, b.ordered_by_thread, b.position, b.created_at, b.updated_at`;

/** At most this many feed entries are searched for items that were not copied yet. */
const maxEntriesCounted = 1_000;
const maxConsumersListed = 100;

/** The inboxes of agents: one row for each that has turned its inbox on. */
export const inboxesRepository = repository({
  find: sql.row<[agentId: string], InboxRow>(
    'inboxes.find',
    `select ${columns} from inboxes b where b.agent_id = :agent_id`,
  ),
  /** Locks the inbox until the transaction ends: whatever makes leases or items waits. */
  lock: sql.row<[agentId: string], LockedInbox>(
    'inboxes.lock',
    `select ${columns}, h.last_number, a.paused
       from inboxes b join feed_heads h on h.agent_id = b.agent_id join agents a on a.id = b.agent_id
       where b.agent_id = :agent_id for no key update of b`,
  ),
  /**
   * Inserts or replaces an inbox. Without order, nothing waits for another item of its thread. With order, items that are ready stay so,
   * and claims keep their order.
   */
  save: sql.run<[inbox: Omit<InboxRow, 'created_at' | 'updated_at'>, now: number]>(
    'inboxes.save(..., now)',
    `with promoted as (
         update inbox_items set state = 'ready' where agent_id = :agent_id and state = 'queued' and not :ordered_by_thread::boolean
       )
       insert into inboxes (agent_id, types, lease_seconds, max_attempts, ordered_by_thread, position, created_at, updated_at)
       values (:agent_id, :types::text[], :lease_seconds, :max_attempts, :ordered_by_thread::boolean, :position, :now::bigint, :now::bigint)
       on conflict (agent_id) do update set types = excluded.types, lease_seconds = excluded.lease_seconds, max_attempts = excluded.max_attempts,
         ordered_by_thread = excluded.ordered_by_thread, position = excluded.position, updated_at = excluded.updated_at`,
  ),
  /**
   * Inserts the inbox of an agent that never had one; does nothing otherwise. Another
   * transaction may do the same.
   */
  open: sql.run<[inbox: Omit<InboxRow, 'created_at' | 'updated_at'>, now: number]>(
    'inboxes.open(..., now)',
    `insert into inboxes (agent_id, types, lease_seconds, max_attempts, ordered_by_thread, position, created_at, updated_at)
       select :agent_id, :types::text[], :lease_seconds, :max_attempts, :ordered_by_thread::boolean, :position::bigint, :now::bigint, :now::bigint
       where not exists (select from deleted_inboxes where agent_id = :agent_id)
       on conflict (agent_id) do nothing`,
  ),
  /** Records that the agent turned its inbox off. */
  markDeleted: sql.run<[agentId: string, now: number]>(
    'inboxes.mark_deleted(agent_id, now)',
    `insert into deleted_inboxes (agent_id, deleted_at) values (:agent_id, :now::bigint) on conflict (agent_id) do nothing`,
  ),
  /** The oldest message of others that the agent has not read. The first unread message of each thread is found by its sequence. */
  findOldestUnread: sql.row<[agentId: string], { created_at: number }>(
    'inboxes.find_oldest_unread',
    `select m.created_at from thread_members v
       cross join lateral (select last_sequence from threads where id = v.thread_id offset 0) t
       cross join lateral (
         select created_at from messages where thread_id = v.thread_id and sequence > v.read_sequence and sender_id <> v.agent_id
         order by sequence limit 1) m
       where v.agent_id = :agent_id and t.last_sequence > v.read_sequence order by m.created_at limit 1`,
  ),
  /** The first entry of the agent's feed whose event has this id or a later one. */
  findEntrySince: sql.row<[agentId: string, eventId: string], { number: number }>(
    'inboxes.find_entry_since(agent_id, event_id)',
    `select number from feed where agent_id = :agent_id and event_id >= ${hideFromPlanner(':event_id', 'text')} order by number limit 1`,
  ),
  /**
   * Counts the items by state. Items in the feed that were not copied yet are ready. At most `maxEntriesCounted` entries are searched for
   * them.
   */
  count: sql.single<[agentId: string], InboxCounts>(
    'inboxes.count',
    `select i.ready + u.ready as ready, i.leased, i.in_review, i.dead, coalesce(i.oldest_event_id, u.oldest_event_id) as oldest_event_id
       from (
         ${itemCounts} where i.agent_id = :agent_id and i.state in ('queued', 'ready', 'leased', 'dead')
       ) i cross join (
         select count(w.number)::int as ready, min(w.event_id) as oldest_event_id
         from inboxes b cross join lateral (
           select f.number, f.event_id from feed f where f.agent_id = b.agent_id and f.number > b.position order by f.number limit :limit
         ) n cross join lateral (${wantedEntries}) w where b.agent_id = :agent_id
       ) u`,
    (agentId) => ({
      agent_id: agentId,
      limit: maxEntriesCounted,
    }),
  ),
  /** The consumers whose last claim is not older than this, the latest first. */
  listConsumers: sql.rows<[agentId: string, max_age_ms: number], ConsumerRow>(
    'inboxes.list_consumers',
    `select c.consumer as name, c.last_claim_at,
         (select count(*)::int from inbox_items i where i.agent_id = c.agent_id and i.state = 'leased' and i.expires_at > ${leaseClock} and i.consumer = c.consumer) as leased
       from inbox_consumers c where c.agent_id = :agent_id and c.last_claim_at > ${leaseClock} - :max_age_ms::int order by c.last_claim_at desc, c.consumer limit :limit`,
    (agentId, max_age_ms) => ({ agent_id: agentId, max_age_ms, limit: maxConsumersListed }),
  ),
  /** Not at every claim: the list is for people. */
  recordConsumer: sql.run<[agentId: string, consumer: string]>(
    'inboxes.record_consumer(agent_id, consumer)',
    `insert into inbox_consumers as c (agent_id, consumer, last_claim_at) values (:agent_id, :consumer, ${leaseClock})
       on conflict (agent_id, consumer) do update set last_claim_at = excluded.last_claim_at where c.last_claim_at < excluded.last_claim_at - 5000`,
  ),
  /** Removes up to `limit` consumers whose last claim is older than this; returns how many. */
  removeOldConsumers: sql.rowCount<[max_age_ms: number, limit: number]>(
    'inboxes.remove_old_consumers(max_age_ms, limit)',
    `delete from inbox_consumers where (agent_id, consumer) in (
         select agent_id, consumer from inbox_consumers where last_claim_at < ${leaseClock} - :max_age_ms::int limit :limit) returning 1`,
  ),
  /** When the next item can be ready; undefined without an inbox. */
  findNext: sql.row<[agentId: string], NextItem>(
    'inboxes.find_next',
    `select h.last_number, case when b.position < h.last_number then 0 else least(
         (select min(ready_at) from inbox_items where agent_id = b.agent_id and state = 'ready' and attempts > 0 and ready_at > ${leaseClock}),
         (select min(expires_at) from inbox_items where agent_id = b.agent_id and state = 'leased')) - ${leaseClock} end as next_in_ms
       from inboxes b join feed_heads h on h.agent_id = b.agent_id where b.agent_id = :agent_id`,
  ),
  /** Removes an inbox with its items and consumers. */
  remove: sql.run<[agentId: string]>(
    'inboxes.remove',
    `with items as (delete from inbox_items where agent_id = :agent_id), consumers as (delete from inbox_consumers where agent_id = :agent_id)
       delete from inboxes where agent_id = :agent_id`,
  ),
});
