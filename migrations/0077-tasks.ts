import type { Knex } from 'knex';

/**
 * Questions with a state. `threads.has_questions` says whether a send must look at tasks. The previous release ignores it: a reply through one
 * of its processes completes no task.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table threads add column has_questions boolean not null default false;

    create table tasks (
      id text collate "C" primary key,
      thread_id text collate "C" not null references threads,
      message_id text collate "C" not null,
      sequence int not null,
      client_id text collate "C" not null references agents,
      agent_id text collate "C" not null references agents,
      state text not null,
      generation int not null,
      due_at bigint,
      overdue_at bigint,
      accepted_output_modes text[] not null,
      asks_person boolean not null,
      lease_token bigint,
      ended_delivery text,
      created_at bigint not null,
      updated_at bigint not null,
      expires_at bigint not null,
      ended_at bigint
    );
    comment on column tasks.lease_token is 'The fencing token of the lease that made it working; null if the agent said so itself';
    comment on column tasks.ended_delivery is 'How far the asking message had come when the task was canceled';
    create index tasks_open_in_thread on tasks (thread_id, id) where ended_at is null;
    create index tasks_in_thread on tasks (thread_id, updated_at);
    create index tasks_open_of_client on tasks (client_id, agent_id) where ended_at is null;
    create index tasks_open_of_agent on tasks (agent_id) where ended_at is null;
    create index tasks_by_client on tasks (client_id, updated_at, id);
    create index tasks_by_agent on tasks (agent_id, updated_at, id);
    create index tasks_due on tasks (due_at) where ended_at is null and overdue_at is null and due_at is not null;
    create index tasks_expiring on tasks (expires_at);
    create table last_seen (
      agent_id text collate "C" primary key references agents,
      seen_at bigint not null
    );
    create table task_messages (
      task_id text collate "C" not null references tasks on delete cascade,
      message_id text collate "C" not null,
      sequence int not null,
      artifact boolean not null,
      data jsonb,
      primary key (task_id, sequence)
    );
    comment on table task_messages is 'A question back that completes a task belongs to that task and to its own';
    create index task_messages_artifacts on task_messages (task_id, sequence) where artifact;
    create index task_messages_of_message on task_messages (message_id, task_id);

    alter table inbox_items add column task_id text collate "C";

    create table expected_replies (
      message_id text collate "C" not null,
      asked_id text collate "C" not null references agents,
      thread_id text collate "C" not null references threads,
      sequence int not null,
      sender_id text collate "C" not null references agents,
      asks_person boolean not null,
      created_at bigint not null,
      primary key (message_id, asked_id)
    );
    create index expected_replies_in_thread on expected_replies (thread_id);
    create index expected_replies_of_asked on expected_replies (asked_id);
    create index expected_replies_of_sender on expected_replies (sender_id);
    create index expected_replies_by_time on expected_replies (created_at);

    create table task_updates (
      task_id text collate "C" not null references tasks on delete cascade,
      generation int not null,
      change text not null,
      state text not null,
      message_id text collate "C",
      by_id text collate "C",
      created_at bigint not null,
      primary key (task_id, generation)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table last_seen, expected_replies, task_updates, task_messages, tasks;
    alter table threads drop column has_questions;
    alter table inbox_items drop column task_id;
  `);
}
