import type { Knex } from 'knex';

/**
 * The erasure of an agent, from the word of whoever wanted it to its report. Nothing here refers to other tables: the report
 * outlives what it tells of. A release before this one knows nothing of it and leaves it alone; this one works on the schema
 * before, but cannot begin an erasure there.
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
