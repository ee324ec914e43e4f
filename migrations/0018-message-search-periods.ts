import type { Knex } from 'knex';

/**
 * The index of words learns the time of messages, as the first characters of their ids: periods of 12 days, 9 hours and 17
 * minutes. So it can be asked for the newest messages that hold words, without a look at all others that do. That of
 * threads learns the ids, so that the two can be asked for the same range.
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
