import type { Knex } from 'knex';

/**
 * Counts a member's own messages after its read mark, so that `unread_count` leaves them out without a look at the messages.
 * `own_unread_after` is the read mark for which the count is valid. The previous release moves the mark alone; then the count is
 * taken as 0.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    `alter table thread_members add column own_unread integer not null default 0,
       add column own_unread_after integer not null default 0`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table thread_members drop column own_unread, drop column own_unread_after');
}
