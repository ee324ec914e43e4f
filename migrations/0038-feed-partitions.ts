import type { Knex } from 'knex';
import { partition, type Table, unite } from './partitioning.ts';

/** Not in one transaction: checking the rows takes long, and locks must be short. */
export const config = { transaction: false };

/** Entries are unique within a partition by key, and across partitions because the counter of the feed is locked for each number. */
const feed: Table = { name: 'feed', key: 'event_id', prefix: 'evt', primary: false };
const events: Table = { name: 'events', key: 'id', prefix: 'evt', primary: true };

/**
 * Partitions feeds and events by the time of the event, so that old rows are removed by dropping tables. The existing tables become the
 * first partitions. Earlier releases read and write them with the same statements, and remove old rows one by one.
 */
export async function up(knex: Knex): Promise<void> {
  const { rows }: { rows: { id: string | null }[] } = await knex.raw('select max(id) as id from events');
  const newest = rows[0]?.id ?? undefined;
  await partition(knex, events, newest);
  await partition(knex, feed, newest);
}

export async function down(knex: Knex): Promise<void> {
  await unite(knex, feed);
  await unite(knex, events);
}
