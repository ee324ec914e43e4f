import type { Knex } from 'knex';
import { inPassing, partition, type Table, unite } from './partitioning.ts';

/** Not in one transaction: checking the rows takes long, and locks must be short. */
export const config = { transaction: false };

/** Sequences are unique within a partition by key, and across partitions because the row of the thread is locked for each. */
const messages: Table = { name: 'messages', key: 'id', prefix: 'msg', primary: true };
const search: Table = {
  name: 'message_search',
  key: 'message_id',
  prefix: 'msg',
  primary: true,
  indexes: {
    message_search_thread: '(thread_id, message_id)',
    message_search_sender: '(sender_id)',
    message_search_document: `using gin (document, (array[left(message_id, 8), left(message_id, 9), left(message_id, 10)]))
      with (fastupdate = on, gin_pending_list_limit = 512)`,
  },
};

/**
 * Partitions messages and search rows by the time of the message, so that old rows can be removed by dropping tables. They have no foreign
 * keys any more: creating or dropping a partition would lock the tables at the other end, and every message would pay for a check of what
 * its own statement has just read. The previous release continues with the same statements.
 */
export async function up(knex: Knex): Promise<void> {
  const { rows }: { rows: { id: string | null }[] } = await knex.raw('select max(id) as id from messages');
  const newest = rows[0]?.id ?? undefined;
  // Locks in the order that sending a message uses.
  await inPassing(knex, ['threads', 'messages', 'attachments', 'message_search'], async (trx) => {
    await trx.raw('alter table attachments drop constraint if exists attachments_message_id_fkey');
    await trx.raw(`alter table message_search drop constraint if exists message_search_message_id_fkey,
      drop constraint if exists message_search_thread_id_fkey`);
    await trx.raw(`alter table messages drop constraint if exists messages_reply_to_fkey,
      drop constraint if exists messages_thread_id_fkey`);
    await trx.raw('drop index if exists messages_reply_to');
  });
  await partition(knex, messages, newest);
  await partition(knex, search, newest);
  await knex.raw('alter table message_search alter column document set statistics 300');
  await knex.raw('alter table message_search_default alter column document set statistics 300');
}

/** Not valid: checking all rows takes long with the tables locked, and references to removed messages stay as they are. */
export async function down(knex: Knex): Promise<void> {
  await unite(knex, search);
  await unite(knex, messages);
  await knex.raw('create index messages_reply_to on messages (reply_to) where reply_to is not null');
  await inPassing(knex, ['threads', 'messages', 'attachments', 'message_search'], async (trx) => {
    await trx.raw(`alter table messages
      add constraint messages_thread_id_fkey foreign key (thread_id) references threads not valid,
      add constraint messages_reply_to_fkey foreign key (reply_to) references messages not valid`);
    await trx.raw(`alter table message_search
      add constraint message_search_message_id_fkey foreign key (message_id) references messages not valid,
      add constraint message_search_thread_id_fkey foreign key (thread_id) references threads not valid`);
    await trx.raw(`alter table attachments
      add constraint attachments_message_id_fkey foreign key (message_id) references messages not valid`);
  });
}
