import { type Queryable, statement } from '../queryable.ts';

const statements = {
  listAgents: statement(
    'feed_retention.look',
    `select h.agent_id, coalesce(f.event_id < $2, false) as old
     from (select agent_id from feed_heads where agent_id > $1 order by agent_id limit $3) h
     left join lateral (select event_id from feed where feed.agent_id = h.agent_id order by number limit 1) f on true
     order by h.agent_id`,
  ),
  /** Only from the front, and only as far as every line is old: what is left of a feed has no hole. */
  removeEntries: statement(
    'feed_retention.remove_lines',
    `with front as (
       select a.agent_id, f.number, f.event_id from unnest($1::text[]) a (agent_id)
       cross join lateral (select number, event_id from feed where feed.agent_id = a.agent_id order by number limit $3) f
     ), judged as (
       select agent_id, number, bool_and(event_id < $2) over (partition by agent_id order by number) as old from front
     ), gone as (
       delete from feed f using judged j where j.old and f.agent_id = j.agent_id and f.number = j.number returning f.agent_id
     )
     select agent_id, count(*)::int as lines from gone group by agent_id`,
  ),
  /** An array, since the planner takes an unknown limit for a tenth of the table, and would join all of it. */
  removeEvents: statement(
    'feed_retention.remove_events',
    `delete from events where id = any(array(select id from events where id < $1 order by id limit $2)) returning id`,
  ),
  oldest: statement('feed_retention.oldest', 'select id from events order by id limit 1'),
};

/** Removes feeds and events by age. The ids of events are in the order of time, so that an id stands for a moment. */
export function feedRetentionRepository(db: Queryable) {
  return {
    /** The next agents after this one, in the order of their ids, and whether the first line of their feed is older. */
    listAgents(
      after: string,
      olderThan: string,
      limit: number,
    ): Promise<{ agent_id: string; old: boolean }[]> {
      return db.query<{ agent_id: string; old: boolean }>(statements.listAgents, [after, olderThan, limit]);
    },
    /** Removes the oldest lines of these feeds, at most `limit` of each; answers how many where there were any. */
    removeEntries(
      agentIds: readonly string[],
      olderThan: string,
      limit: number,
    ): Promise<{ agent_id: string; lines: number }[]> {
      return db.query<{ agent_id: string; lines: number }>(statements.removeEntries, [
        agentIds,
        olderThan,
        limit,
      ]);
    },
    /** Removes the oldest events, at most `limit`; answers how many. */
    async removeEvents(olderThan: string, limit: number): Promise<number> {
      return (await db.query(statements.removeEvents, [olderThan, limit])).length;
    },
    /** The id of the oldest event that is kept. */
    async oldestEvent(): Promise<string | undefined> {
      return (await db.query<{ id: string }>(statements.oldest, []))[0]?.id;
    },
  };
}
