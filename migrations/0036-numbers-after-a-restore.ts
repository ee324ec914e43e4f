import type { Knex } from 'knex';

/**
 * Where the numbers of feeds came from: the database that gave them out. A copy that goes on elsewhere must not give out again what
 * clients hold as cursors, so each feed then begins a new stretch of numbers, and keeps where the former ones ended.
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
