import type { Knex } from 'knex';

/**
 * Withdrawals that other installations are to be told, and which message each applied update became: its sender can withdraw it. The previous
 * release tells no withdrawals, and what it applies cannot be withdrawn by the other side.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table remote_withdrawals (
      message_id text collate "C" primary key,
      thread_id text collate "C" not null references remote_threads on delete cascade,
      sequence int not null,
      created_at bigint not null
    );
    create index remote_withdrawals_thread on remote_withdrawals (thread_id, sequence);
    alter table remote_updates add column message_id text collate "C";
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table remote_updates drop column message_id;
    drop table remote_withdrawals;
  `);
}
