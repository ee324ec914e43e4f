import { type Queryable, statement } from '../queryable.ts';

const statements = {
  listAgents: statement(
    'feed_retention.list_agents',
    `select h.agent_id, coalesce(f.event_id < $2, false) as old
     from (select agent_id from feed_heads where agent_id > $1 order by agent_id limit $3) h
     left join lateral (select event_id from feed where feed.agent_id = h.agent_id order by number limit 1) f on true
     order by h.agent_id`,
  ),
  /** Removes only a prefix in which every entry is old: the rest of a feed has no gaps. */
  removeEntries: statement(
    'feed_retention.remove_entries',
    `with oldest as (
       select a.agent_id, f.number, f.event_id from unnest($1::text[]) a (agent_id)
       cross join lateral (select number, event_id from feed where feed.agent_id = a.agent_id order by number limit $3) f
     ), candidate as (
       select agent_id, number, bool_and(event_id < $2) over (partition by agent_id order by number) as old from oldest
     ), removed as (
       delete from feed f using candidate c where c.old and f.agent_id = c.agent_id and f.number = c.number returning f.agent_id
     )
     select agent_id, count(*)::int as entries from removed group by agent_id`,
  ),
  /** An array: the planner takes an unknown limit for a tenth of the table, and would join all of it. */
  removeEvents: statement(
    'feed_retention.remove_events',
    `delete from events where id = any(array(select id from events where id < $1 order by id limit $2)) returning id`,
  ),
  findOldestEvent: statement('feed_retention.find_oldest_event', 'select id from events order by id limit 1'),
};

/** Removes feed entries and events by age. Event ids are in the order of time, so an id represents a time. */
export function feedRetentionRepository(db: Queryable) {
  return {
    /** The next agents by id, and whether the first entry of their feed is older than `olderThan`. */
    listAgents(
      after: string,
      olderThan: string,
      limit: number,
    ): Promise<{ agent_id: string; old: boolean }[]> {
      return db.query<{ agent_id: string; old: boolean }>(statements.listAgents, [after, olderThan, limit]);
    },
    /** Removes old entries from the beginning of these feeds, up to `limit` of each; returns how many per feed with any. */
    removeEntries(
      agentIds: readonly string[],
      olderThan: string,
      limit: number,
    ): Promise<{ agent_id: string; entries: number }[]> {
      return db.query<{ agent_id: string; entries: number }>(statements.removeEntries, [
        agentIds,
        olderThan,
        limit,
      ]);
    },
    /** Removes up to `limit` of the oldest events; returns how many. */
    async removeEvents(olderThan: string, limit: number): Promise<number> {
      return (await db.query(statements.removeEvents, [olderThan, limit])).length;
    },
    /** The id of the oldest event. */
    async findOldestEvent(): Promise<string | undefined> {
      return (await db.query<{ id: string }>(statements.findOldestEvent, []))[0]?.id;
    },
  };
}
