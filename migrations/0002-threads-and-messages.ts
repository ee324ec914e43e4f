import type { Knex } from 'knex';

/**
 * Threads, members and messages. The row of a thread is the lock under which its messages get their sequence. It and the member rows
 * change with every message: their pages have free space for updates in place (HOT), and no index covers the changing columns.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table threads (
      id text collate "C" primary key,
      subject text,
      status text not null check (status in ('active', 'closed', 'archived')),
      created_by text collate "C" not null references agents,
      last_sequence integer not null default 0,
      last_message_at bigint,
      created_at bigint not null,
      updated_at bigint not null
    ) with (fillfactor = 70);
    create index threads_created_by on threads (created_by);

    create table thread_members (
      thread_id text collate "C" not null references threads,
      agent_id text collate "C" not null references agents,
      read_sequence integer not null default 0,
      joined_at bigint not null,
      primary key (thread_id, agent_id)
    ) with (fillfactor = 70);
    create index thread_members_agent on thread_members (agent_id, thread_id);

    -- sender_id has no foreign key on purpose: agents are retired, never deleted, and the check would lock the sender's row
    -- once for every message sent.
    create table messages (
      id text collate "C" primary key,
      thread_id text collate "C" not null references threads,
      sequence integer not null,
      sender_id text collate "C" not null,
      content text not null,
      content_type text not null check (content_type in ('text', 'markdown')),
      reply_to text collate "C" references messages,
      metadata jsonb not null default '{}',
      created_at bigint not null,
      constraint messages_thread_sequence_unique unique (thread_id, sequence)
    );
    create index messages_reply_to on messages (reply_to) where reply_to is not null;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table messages, thread_members, threads');
}
