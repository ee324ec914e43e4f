import { query, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { itemCounts } from './inboxes.ts';
import { wantedEntries } from './wanted-entries.ts';

/** Items of all inboxes by state. */
export interface InboxStats {
  ready: number;
  leased: number;
  dead: number;
  /** The event of the oldest item that is ready or leased; null if there is none. Its id has the time. */
  oldest_event_id: string | null;
}

const statements = {
  listOld: statement(
    'inbox_retention.list_old',
    `select b.agent_id from (select agent_id, position from inboxes where agent_id > :after order by agent_id limit :limit) b
     where exists (select from inbox_items i where i.agent_id = b.agent_id and i.event_id < :older_than
         and i.number = (select min(number) from inbox_items where agent_id = b.agent_id))
       or exists (select from feed f where f.agent_id = b.agent_id and f.event_id < :older_than
         and f.number = (select min(n.number) from feed n where n.agent_id = b.agent_id and n.number > b.position))
     order by b.agent_id`,
  ),
  listAgents: statement(
    'inbox_retention.list_agents',
    'select agent_id from inboxes where agent_id > :after order by agent_id limit :limit',
  ),
  removeItems: statement(
    'inbox_retention.remove_items',
    `with removed as (
       delete from inbox_items where agent_id = :agent_id and event_id < :older_than returning state
     )
     select count(*) filter (where state in ('queued', 'ready', 'leased', 'dead'))::int as items from removed`,
  ),
  promote: statement(
    'inbox_retention.promote',
    `update inbox_items i set state = 'ready' from (
       select distinct on (thread_id) number, state from inbox_items
       where agent_id = :agent_id and thread_id is not null and state in ('queued', 'ready') order by thread_id, number
     ) oldest
     where i.agent_id = :agent_id and i.number = oldest.number and oldest.state = 'queued'`,
  ),
};

/** How much of the feeds one look at the statistics searches. */
const statsLimits = { inboxes: 200, entries: 100 };

/** Items by age, and statistics over all inboxes. */
export const inboxRetentionRepository = repository(
  {
    /** The first entries after a position that are older than an event id. */
    listEntries: sql.rows<
      [agentId: string, page: { position: number; older_than: string; limit: number }],
      { number: number; event_id: string }
    >(
      'inbox_retention.list_entries(agent_id, ...)',
      `select number, event_id from feed where agent_id = :agent_id and number > :position and event_id < :older_than order by number limit :limit`,
    ),
    /** Removes the items of a thread. */
    removeOfThread: sql.run<[agentId: string, threadId: string]>(
      'inbox_retention.remove_of_thread(agent_id, thread_id)',
      'delete from inbox_items where agent_id = :agent_id and thread_id = :thread_id',
    ),
    /** Locks the inboxes of these agents until the transaction ends: a claim has its items before, or sees what this one commits. Returns them. */
    lockInboxes: sql.values<[agentIds: readonly string[]], string>(
      'inbox_retention.lock_inboxes',
      'select agent_id from inboxes where agent_id = any(:agent_ids::text[]) order by agent_id for no key update',
    ),
    /**
     * Removes a message from these locked inboxes; the next item of its thread no longer waits for it. An item with a lease stays until
     * that ends, and no claim returns it again. Returns the agents whose items have changed.
     */
    removeMessage: sql.values<
      [agentIds: readonly string[], message: { thread_id: string; sequence: number }],
      string
    >(
      'inbox_retention.remove_message(agent_ids, ...)',
      `with removed as (
         delete from inbox_items i
         where i.agent_id = any(:agent_ids::text[]) and i.thread_id = :thread_id and i.sequence = :sequence and i.state in ('queued', 'ready', 'dead')
         returning i.agent_id, i.number
       ), leased as (
         update inbox_items i set is_obsolete = true
         where i.agent_id = any(:agent_ids::text[]) and i.thread_id = :thread_id and i.sequence = :sequence and i.state = 'leased'
       ), promoted as (
         update inbox_items q set state = 'ready' from removed r cross join lateral (
           select n.number, n.state from inbox_items n
           where n.agent_id = r.agent_id and n.thread_id = :thread_id and n.state in ('queued', 'ready') and n.number <> r.number
           order by n.number limit 1
         ) n
         where n.state = 'queued' and q.agent_id = r.agent_id and q.number = n.number
       )
       select agent_id from removed`,
    ),
    /**
     * Items of all inboxes. Inboxes with entries that were not copied yet are searched too, some of each: an inbox that no instance reads
     * shows up.
     */
    readStats: sql.single<[], InboxStats>(
      'inbox_retention.stats',
      `select i.ready + u.ready as ready, i.leased, i.dead, least(i.oldest_event_id, u.oldest_event_id) as oldest_event_id
       from (
         ${itemCounts} where i.state in ('queued', 'ready', 'leased', 'dead')
       ) i cross join (
         select count(w.number)::int as ready, min(w.event_id) as oldest_event_id
         from (
           select p.* from inboxes p join feed_heads h on h.agent_id = p.agent_id where p.position < h.last_number limit :inboxes
         ) b cross join lateral (
           select f.number, f.event_id from feed f where f.agent_id = b.agent_id and f.number > b.position order by f.number limit :entries
         ) n cross join lateral (${wantedEntries}) w
       ) u`,
      () => statsLimits,
    ),
  },
  (db) => ({
    /** The next agents with an inbox by id: `last` is the last of them, `old` those with items or entries older than an event id. */
    async listOld(
      after: string,
      olderThan: string,
      limit: number,
    ): Promise<{ last: string | undefined; old: string[] }> {
      const [agents, old] = await Promise.all([
        query<{ agent_id: string }>(db, statements.listAgents, { after, limit }),
        query<{ agent_id: string }>(db, statements.listOld, { after, older_than: olderThan, limit }),
      ]);
      const last = agents.length < limit ? undefined : agents.at(-1)?.agent_id;
      return { last, old: old.map(({ agent_id }) => agent_id) };
    },
    /** Removes items of a locked inbox whose event is older; returns how many of them were not acknowledged. */
    async removeItems(agentId: string, olderThan: string): Promise<number> {
      const [[row]] = await Promise.all([
        query<{ items: number }>(db, statements.removeItems, { agent_id: agentId, older_than: olderThan }),
        // The oldest item that is left of each thread no longer waits for another.
        query(db, statements.promote, { agent_id: agentId }),
      ]);
      return row?.items ?? 0;
    },
  }),
);
