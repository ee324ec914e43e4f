import type { Knex } from 'knex';

/**
 * What a person has marked a conversation as: done until a later message, muted. A conversation without a row is neither. And the filters
 * that a person has saved: `[{name, query}]`. The previous release shows all conversations as before, and no saved filters.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table thread_marks (
      account_id text collate "C" not null references accounts on delete cascade,
      thread_id text collate "C" not null references threads on delete cascade,
      -- The last message that the person had seen when the conversation was done. Null: it is not done.
      done_sequence integer,
      muted boolean not null default false,
      primary key (account_id, thread_id)
    );
    create index thread_marks_thread on thread_marks (thread_id);

    alter table accounts add column saved_views jsonb not null default '[]';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table accounts drop column saved_views; drop table thread_marks');
}
