import type { Knex } from 'knex';

/** Not in a transaction: writes to the tables continue while the indexes are built. */
export const config = { transaction: false };

const indexes = {
  remote_tasks_polls: 'remote_tasks (thread_id, poll_at) where poll_at is not null',
  remote_messages_deliveries: `remote_messages (thread_id, delivery, sequence) where outcome = 'accepted'`,
  remote_messages_task: 'remote_messages (thread_id, remote_task_id, sequence)',
};

/** The cost of a message to a remote agent does not grow with the messages of its thread. */
export async function up(knex: Knex): Promise<void> {
  for (const [name, on] of Object.entries(indexes)) {
    // That of a killed run is incomplete.
    await knex.raw(`drop index concurrently if exists ${name}`);
    await knex.raw(`create index concurrently ${name} on ${on}`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const name of Object.keys(indexes)) await knex.raw(`drop index concurrently ${name}`);
}
