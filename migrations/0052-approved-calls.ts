import type { Knex } from 'knex';

/**
 * The idempotency key of the call that an approval waits for, and the answer of the call, which runs when a person approves. Without an
 * answer, the approval was decided by a process of the previous release: then the agent repeats the call.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'alter table approvals add column key_hash bytea, add column request_hash bytea, add column answer text',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table approvals drop column key_hash, drop column request_hash, drop column answer');
}
