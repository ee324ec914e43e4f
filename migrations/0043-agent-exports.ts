import type { Knex } from 'knex';

/**
 * Exports of agents, from the request until the archive is removed. Like erasures they have no foreign keys. The previous release ignores
 * them, but its sweep of the store removes their files after an hour; such an export starts again. This release works on the previous
 * schema, but cannot start an export there.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table agent_exports (
      id text collate "C" primary key,
      agent_id text collate "C" not null,
      handle text not null,
      account_id text collate "C",
      stage text not null check (stage in ('belongings', 'conversations', 'archive', 'done')),
      thread_id text collate "C" not null default '',
      sequence bigint not null default 0,
      part_keys text[] not null default '{}',
      counts jsonb not null default '{}',
      missing_files text[] not null default '{}',
      archive_key text,
      size_bytes bigint,
      sha256 text,
      created_at bigint not null,
      updated_at bigint not null,
      done_at bigint,
      expires_at bigint not null,
      check ((stage = 'done') = (done_at is not null and archive_key is not null and size_bytes is not null and sha256 is not null))
    );
    create unique index agent_exports_under_way on agent_exports (agent_id, (coalesce(account_id, ''))) where done_at is null;
    create index agent_exports_agent on agent_exports (agent_id, id);
    create index agent_exports_account on agent_exports (account_id, id) where account_id is not null;
    create index agent_exports_expires on agent_exports (expires_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table agent_exports');
}
