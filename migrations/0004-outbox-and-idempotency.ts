import type { Knex } from 'knex';

/**
 * The outbox holds every job of a committed change until a worker has done it and deletes the row. The queue is the fast path to the
 * worker; the sweep over `due_at` is the safe one.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table outbox (
      job text not null,
      subject_id text collate "C" not null,
      attempts integer not null default 0,
      due_at bigint not null,
      created_at bigint not null,
      primary key (job, subject_id)
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
    create index outbox_due on outbox (due_at);

    create table idempotency_keys (
      key_hash bytea not null,
      request_hash bytea not null,
      answer text not null,
      created_at bigint not null,
      constraint idempotency_keys_unique primary key (key_hash)
    );
    create index idempotency_keys_created on idempotency_keys (created_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table idempotency_keys, outbox');
}
