import type { Knex } from 'knex';
import { partition, type Table, unite } from './partitioning.ts';

/** Steps of their own: rows are checked for as long as it takes, and locks are held for moments only. */
export const config = { transaction: false };

/** Lines are unique within a partition by their key, and over all of them by the head of the feed, which is locked for each number. */
const feed: Table = { name: 'feed', key: 'event_id', prefix: 'evt', primary: false };
const events: Table = { name: 'events', key: 'id', prefix: 'evt', primary: true };

/**
 * Feeds and events in partitions by the time of their events, so that old ones leave as tables are dropped. The tables of before
 * become the first partitions. Releases before read and write them by the same statements, and remove old rows one by one.
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
