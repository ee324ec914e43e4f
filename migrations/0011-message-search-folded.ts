import type { Knex } from 'knex';

/**
 * The worker computes the documents, and each row has the version of the tokenizer. Earlier rows have version 0: they are found until
 * `ams search reindex` replaces them. New words go to the pending list of the index, which halves the cost of a message. The list is kept
 * short, because every search reads it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table message_search
      add column sender_id text collate "C",
      add column created_at bigint,
      add column version smallint not null default 0;
    update message_search s set sender_id = m.sender_id, created_at = m.created_at from messages m where m.id = s.message_id;
    alter table message_search
      alter column sender_id set not null,
      alter column created_at set not null,
      alter column version drop default;
    create index message_search_sender on message_search (sender_id);
    alter index message_search_document set (fastupdate = on, gin_pending_list_limit = 512);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter index message_search_document reset (fastupdate, gin_pending_list_limit);
    drop index message_search_sender;
    alter table message_search drop column sender_id, drop column created_at, drop column version;
  `);
}
