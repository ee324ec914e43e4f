import type { Knex } from 'knex';

/**
 * Where clients of A2A get the updates of their tasks. `position` is the generation of the last update that was delivered, so everything after
 * it is still to come. `next_at` is also the lease of the worker that sends. The table is not that of the subscriptions of MCP: workers of the
 * previous release would send its rows in another form.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table a2a_push_configs (
      task_id text collate "C" not null references tasks on delete cascade,
      id text collate "C" not null,
      client_id text collate "C" not null references agents,
      url text not null,
      scheme text,
      -- Encrypted, like the token.
      credentials bytea,
      token bytea,
      has_mailbox boolean not null,
      -- Of A2A, in which the client reads the updates.
      version text not null check (version in ('1.0', '0.3')),
      position int not null,
      attempts int not null default 0,
      -- Null: stopped by the receiver or by failures.
      next_at bigint,
      last_error text,
      created_at bigint not null,
      primary key (task_id, id)
    ) with (fillfactor = 50);
    create index a2a_push_configs_client on a2a_push_configs (client_id);
    create index a2a_push_configs_next on a2a_push_configs (next_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table a2a_push_configs');
}
