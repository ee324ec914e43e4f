import { unpreparedStatement, type Queryable } from '../queryable.ts';

const statements = {
  /** Only the default partition: other rows are removed with their partition. */
  threads: unpreparedStatement(
    `select distinct thread_id from messages_default where id < $1 and thread_id > $2 order by thread_id limit $3`,
  ),
  /** Removes from the first message on, up to the first one that is not old: the rest of a thread has no gap. */
  removeFront: unpreparedStatement(
    `with front as (
       select t.thread_id, m.sequence, m.id from unnest($1::text[]) t (thread_id)
       cross join lateral (select sequence, id from messages where thread_id = t.thread_id order by sequence limit $3) m
     ), judged as (
       select thread_id, id, bool_and(id < $2) over (partition by thread_id order by sequence) as old from front
     ), gone as (
       delete from messages m using judged j where j.old and m.id = j.id and m.thread_id = j.thread_id returning m.thread_id, m.sequence, m.id
     ), search as (
       delete from message_search s using gone where s.message_id = gone.id
     )
     select thread_id as id, max(sequence) as last, count(*)::int as messages from gone group by thread_id`,
  ),
};

/** The last removed sequence of a thread, and the number of removed messages. */
export interface RemovedFront {
  id: string;
  last: number;
  messages: number;
}

/** Removes old messages that are in no partition of their time. */
export function messageRetentionRepository(db: Queryable) {
  return {
    /** The next threads after this one with messages older than this id in the default partition. */
    async threads(olderThan: string, after: string, limit: number): Promise<string[]> {
      const rows = await db.query<{ thread_id: string }>(statements.threads, [olderThan, after, limit]);
      return rows.map(({ thread_id }) => thread_id);
    },
    /** Removes the first messages of these threads with their search rows, at most `limit` of each. */
    removeFront(threadIds: readonly string[], olderThan: string, limit: number): Promise<RemovedFront[]> {
      return db.query<RemovedFront>(statements.removeFront, [threadIds, olderThan, limit]);
    },
  };
}
