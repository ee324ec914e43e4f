import type { Knex } from 'knex';

/** An index of unsent files: every upload counts those of its agent, without this among all that it ever sent. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index attachments_held on attachments (uploader_id, created_at) where message_id is null;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index attachments_held');
}
