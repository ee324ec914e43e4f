import type { Knex } from 'knex';

/**
 * The audit log of trust and administration. It has no foreign keys, its rows are never changed, and they are removed by age. The ids are in
 * the order of time.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table audit_log (
      id text collate "C" primary key,
      act text not null,
      by_kind text not null,
      by_id text collate "C",
      door text not null,
      client_id text,
      agent_id text collate "C",
      account_id text collate "C",
      about text,
      detail jsonb,
      at bigint not null
    );
    create index audit_log_agent on audit_log (agent_id, id) where agent_id is not null;
    create index audit_log_account on audit_log (account_id, id) where account_id is not null;
    create index audit_log_by on audit_log (by_id, id) where by_id is not null;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table audit_log');
}
