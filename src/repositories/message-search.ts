import { type Queryable, statement } from './queryable.ts';

const index = statement(
  'message_search.index',
  `insert into message_search (message_id, thread_id, document, indexed_at)
   select m.id, m.thread_id, to_tsvector('simple', unaccent(m.content)), $2 from messages m where m.id = any($1)
   on conflict (message_id) do update set document = excluded.document, indexed_at = excluded.indexed_at`,
);

export function messageSearchRepository(db: Queryable) {
  return {
    /** Writes the search rows of these messages, again if they are there. `now` in milliseconds. */
    async index(messageIds: readonly string[], now: number): Promise<void> {
      await db.query(index, [messageIds, now]);
    },
  };
}
