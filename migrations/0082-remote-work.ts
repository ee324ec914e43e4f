import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue while the index is built. */
export const config = { transaction: false };

/**
 * Threads with remote agents that have work to do, as an index: the sweep reads nothing of idle ones. `last_sequence` is that of the thread,
 * which the delivery of its events notes, so a message is waiting if `position` is behind it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_threads add column if not exists last_sequence int not null default 0');
  await knex.raw(`update remote_threads r set last_sequence = t.last_sequence from threads t
    where t.id = r.thread_id and r.last_sequence < t.last_sequence`);
  // That of a killed run is incomplete.
  await knex.raw('drop index concurrently if exists remote_threads_work');
  await knex.raw(`create index concurrently remote_threads_work on remote_threads (thread_id)
    where position < last_sequence or poll_at is not null`);
  await knex.raw('drop index concurrently if exists remote_threads_next');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('create index concurrently if not exists remote_threads_next on remote_threads (next_at)');
  await knex.raw('drop index concurrently remote_threads_work');
  await knex.raw('alter table remote_threads drop column last_sequence');
}
