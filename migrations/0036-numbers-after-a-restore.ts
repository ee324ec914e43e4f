import type { Knex } from 'knex';

/**
 * The feed epoch: the database that assigned the numbers of the feeds. A copy must not assign numbers again that clients hold in cursors.
 * So each feed then begins a new range of numbers, and keeps the ends of the earlier ranges.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table feed_heads add column ended_stretches bigint[];

    create table feed_origin (
      one boolean primary key default true check (one),
      fingerprint text not null,
      since bigint not null
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table feed_origin;
    alter table feed_heads drop column ended_stretches;
  `);
}
