import type { Knex } from 'knex';

/**
 * The messages that clients sent through A2A, as they were received: a repeated one finds its task, and the history gives it back. The previous
 * release does not serve A2A.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table a2a_messages (
      client_id text collate "C" not null references agents,
      agent_id text collate "C" not null references agents,
      client_message_id text collate "C" not null,
      task_id text collate "C" not null references tasks on delete cascade,
      message_id text collate "C" not null,
      digest bytea not null,
      wire jsonb,
      primary key (client_id, agent_id, client_message_id)
    );
    comment on column a2a_messages.digest is 'SHA-256 of the message without the queries of its URLs';
    comment on column a2a_messages.wire is 'The message as received, without the bytes of its files; null after the retention of messages';
    create index a2a_messages_of_task on a2a_messages (task_id, message_id);
    create index a2a_messages_with_wire on a2a_messages (message_id) where wire is not null;
    create index a2a_messages_of_agent on a2a_messages (agent_id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table a2a_messages');
}
