import type { Knex } from 'knex';

/**
 * Adds the time of messages to the word index, as the first characters of their ids: periods of 12 days, 9 hours and 17 minutes. A search
 * for the newest messages with some words then does not read all others. The index of threads gets the ids, so that both can be searched
 * for the same range.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index message_search_document;
    create index message_search_document on message_search using gin (
      document, (array[left(message_id, 8), left(message_id, 9), left(message_id, 10)])
    ) with (fastupdate = on, gin_pending_list_limit = 512);
    drop index message_search_thread;
    create index message_search_thread on message_search (thread_id, message_id);
    analyze message_search;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index message_search_document;
    create index message_search_document on message_search using gin (document)
      with (fastupdate = on, gin_pending_list_limit = 512);
    drop index message_search_thread;
    create index message_search_thread on message_search (thread_id);
  `);
}
