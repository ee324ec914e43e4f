import type { Knex } from 'knex';

/** Search rows, written by the search-indexing job: one per message, with accents and case folded. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create extension if not exists unaccent;

    create table message_search (
      message_id text collate "C" primary key references messages,
      thread_id text collate "C" not null references threads,
      document tsvector not null,
      indexed_at bigint not null
    );
    create index message_search_thread on message_search (thread_id);
    create index message_search_document on message_search using gin (document);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table message_search');
}
