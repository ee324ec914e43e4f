import { repository, sql } from '../sql.ts';

/** Removes feed entries and events by age. Event ids are in the order of time, so an id represents a time. */
export const feedRetentionRepository = repository({
  /** The next agents by id, and whether the first entry of their feed is older than `olderThan`. */
  listAgents: sql.rows<[after: string, olderThan: string, limit: number], { agent_id: string; old: boolean }>(
    'feed_retention.list_agents(after, older_than, limit)',
    `select h.agent_id, coalesce(f.event_id < :older_than, false) as old
     from (select agent_id from feed_heads where agent_id > :after order by agent_id limit :limit) h
     left join lateral (select event_id from feed where feed.agent_id = h.agent_id order by number limit 1) f on true
     order by h.agent_id`,
  ),
  /**
   * Removes old entries from the beginning of these feeds, up to `limit` of each; returns how many per feed with any. Removes only a
   * prefix in which every entry is old: the rest of a feed has no gaps.
   */
  removeEntries: sql.rows<
    [agentIds: readonly string[], olderThan: string, limit: number],
    { agent_id: string; entries: number }
  >(
    'feed_retention.remove_entries(agent_ids, older_than, limit)',
    `with oldest as (
       select a.agent_id, f.number, f.event_id from unnest(:agent_ids::text[]) a (agent_id)
       cross join lateral (select number, event_id from feed where feed.agent_id = a.agent_id order by number limit :limit) f
     ), candidate as (
       select agent_id, number, bool_and(event_id < :older_than) over (partition by agent_id order by number) as old from oldest
     ), removed as (
       delete from feed f using candidate c where c.old and f.agent_id = c.agent_id and f.number = c.number returning f.agent_id
     )
     select agent_id, count(*)::int as entries from removed group by agent_id`,
  ),
  /**
   * Removes up to `limit` of the oldest events; returns how many. An array: the planner takes an unknown limit for a tenth of the table,
   * and would join all of it.
   */
  removeEvents: sql.rowCount<[olderThan: string, limit: number]>(
    'feed_retention.remove_events(older_than, limit)',
    `delete from events where id = any(array(select id from events where id < :older_than order by id limit :limit)) returning id`,
  ),
  /** The id of the oldest event. */
  findOldestEvent: sql.value<[], string | undefined>(
    'feed_retention.find_oldest_event',
    'select id from events order by id limit 1',
  ),
});
