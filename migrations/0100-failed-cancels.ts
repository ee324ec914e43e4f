import type { Knex } from 'knex';

/** Whether the first attempt to tell a remote side that a task is canceled has failed: the next ones come with the reads of the task. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_tasks add column cancel_failed boolean not null default false');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_tasks drop column cancel_failed');
}
