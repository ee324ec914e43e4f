import { repository, sql } from '../sql.ts';

interface ThreadOfPerson {
  account_id: string;
  thread_id: string;
}

/** What people have marked threads as. Reads are joined by the lists of threads. */
export const threadMarksRepository = repository({
  /** @param mark the last message with which the thread is done; null: it is not done. */
  setDone: sql.run<[mark: ThreadOfPerson & { done_sequence: number | null }]>(
    'thread_marks.set_done',
    `insert into thread_marks (account_id, thread_id, done_sequence) values (:account_id, :thread_id, :done_sequence)
     on conflict (account_id, thread_id) do update set done_sequence = excluded.done_sequence`,
  ),
  setMuted: sql.run<[mark: ThreadOfPerson & { muted: boolean }]>(
    'thread_marks.set_muted',
    `insert into thread_marks (account_id, thread_id, muted) values (:account_id, :thread_id, :muted)
     on conflict (account_id, thread_id) do update set muted = excluded.muted`,
  ),
});
