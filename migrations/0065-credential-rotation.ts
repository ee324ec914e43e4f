import type { Knex } from 'knex';

/**
 * A credential whose secret was rotated: the previous secret counts for some time, so that programs can be changed one after the other.
 * Processes of the previous release accept only the new secret.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table credentials
      add column rotated_at bigint,
      add column previous_secret_hash bytea,
      add column previous_secret_until bigint`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table credentials drop column rotated_at, drop column previous_secret_hash, drop column previous_secret_until`);
}
