import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue. */
export const config = { transaction: false };

/** Every commit wrote to this index, and only the sweep read it. The previous release reads the table instead, which is small. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists outbox_due');
}

/** The code before it knows no rows for delivery and indexing together. */
export async function down(knex: Knex): Promise<void> {
  await knex.transaction(async (transaction) => {
    await transaction.raw(`insert into outbox (job, subject_id, due_at, created_at)
      select 'index-messages', e.message_id, o.due_at, o.created_at
      from outbox o cross join lateral unnest(array[o.subject_id] || coalesce(o.more_ids, '{}')) n (id) join events e on e.id = n.id
      where o.job = 'deliver-messages' and e.message_id is not null
      on conflict (job, subject_id) do nothing`);
    await transaction.raw("update outbox set job = 'deliver-events' where job = 'deliver-messages'");
  });
  await knex.raw('drop index concurrently if exists outbox_due');
  await knex.raw('create index concurrently outbox_due on outbox (due_at)');
}
