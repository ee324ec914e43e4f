import type { Knex } from 'knex';

/**
 * Agents of other systems, which are reached over A2A: the record beside their row of `agents`, the threads with them, what became of the
 * messages to them, and the tasks there. `next_at` is also the lease of the worker that has the row.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table agents drop constraint agents_scope_check,
      add constraint agents_scope_check check (scope in ('personal', 'member', 'shared', 'remote')) not valid;

    create table remote_agents (
      agent_id text collate "C" primary key references agents,
      card_url text not null,
      state text not null check (state in ('waiting', 'ready')),
      -- As last fetched; null before.
      card jsonb,
      -- Its keys and its interface, with their fingerprint; and those that a person confirmed.
      identity jsonb,
      confirmed jsonb,
      credential_kind text not null check (credential_kind in ('none', 'bearer', 'client_credentials')),
      -- Encrypted.
      credential bytea,
      -- When the card is fetched again.
      next_at bigint not null,
      attempts int not null default 0,
      card_error text,
      -- Of the last delivery.
      last_error text,
      failing_since bigint,
      last_delivered_at bigint,
      -- Without a confirmation, it is removed then.
      expires_at bigint,
      created_at bigint not null
    );
    create index remote_agents_next on remote_agents (next_at);
  `);
  await createThreads(knex);
}

/** The threads with them, and what became of the messages. */
async function createThreads(knex: Knex): Promise<void> {
  await knex.raw(`
    create table remote_threads (
      thread_id text collate "C" primary key references threads on delete cascade,
      agent_id text collate "C" not null references remote_agents on delete cascade,
      -- The sequence of the last message that needs no attempt any more.
      position int not null default 0,
      context_id text,
      attempts int not null default 0,
      -- The message whose sending has begun, and its outcome is not known.
      begun_id text collate "C",
      -- The message whose callback came before the answer to it.
      called_id text collate "C",
      next_at bigint not null,
      -- When a task of the thread is read next; null: none is open.
      poll_at bigint
    ) with (fillfactor = 50);
    create index remote_threads_agent on remote_threads (agent_id);
    create index remote_threads_next on remote_threads (next_at);

    create table remote_messages (
      message_id text collate "C" primary key,
      thread_id text collate "C" not null references remote_threads on delete cascade,
      sequence int not null,
      outcome text not null check (outcome in ('accepted', 'undeliverable', 'unknown')),
      remote_task_id text,
      -- What the remote agent has done with it.
      delivery text not null check (delivery in ('stored', 'delivered', 'read', 'handled')),
      error jsonb,
      created_at bigint not null
    );
    create index remote_messages_thread on remote_messages (thread_id, sequence);

    create table remote_tasks (
      thread_id text collate "C" not null references remote_threads on delete cascade,
      remote_task_id text not null,
      -- The message that opened it.
      message_id text collate "C" not null,
      -- The task here, if the message asked.
      task_id text collate "C" references tasks on delete cascade,
      state text not null,
      generation int not null default 0,
      polls int not null default 0,
      -- Whether the remote side was told that its task is canceled here.
      cancel_sent boolean not null default false,
      -- Null: it has ended.
      poll_at bigint,
      primary key (thread_id, remote_task_id)
    ) with (fillfactor = 50);
    create index remote_tasks_task on remote_tasks (task_id);

    -- The messages and artifacts of remote tasks that were applied.
    create table remote_updates (
      thread_id text collate "C" not null references remote_threads on delete cascade,
      key text not null,
      primary key (thread_id, key)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table remote_updates, remote_tasks, remote_messages, remote_threads, remote_agents;
    alter table agents drop constraint agents_scope_check,
      add constraint agents_scope_check check (scope in ('personal', 'member', 'shared')) not valid;
  `);
}
