import type { Knex } from 'knex';

/**
 * Erasures of agents, from the request to the report. The table has no foreign keys: the report outlives the data. The previous release
 * ignores it. This release works on the previous schema, but cannot start an erasure there.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table erasures (
      id text collate "C" primary key,
      agent_id text collate "C" not null,
      handle text not null,
      account_id text collate "C",
      stage text not null check (stage in ('belongings', 'feed', 'messages', 'files', 'done')),
      looked_after text collate "C" not null default '',
      examined bigint not null default 0,
      doomed_keys text[] not null default '{}',
      counts jsonb not null default '{}',
      created_at bigint not null,
      updated_at bigint not null,
      done_at bigint
    );
    create unique index erasures_under_way on erasures (agent_id) where done_at is null;
    create index erasures_agent on erasures (agent_id, id);
    create index erasures_account on erasures (account_id, id) where account_id is not null;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table erasures');
}
