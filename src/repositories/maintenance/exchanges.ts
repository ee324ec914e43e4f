import { type Queryable, statement } from '../queryable.ts';

const removeBefore = statement(
  'exchanges.remove_before',
  `delete from thread_exchanges where (thread_id, one_id, other_id) in
     (select thread_id, one_id, other_id from thread_exchanges where since < $1 limit $2)
   returning 1`,
);

/** Of the counts only what is over: messages count, as they are appended. */
export function exchangesRepository(db: Queryable) {
  return {
    /** Removes up to `limit` periods that began before `time` (ms); answers how many. */
    async removeBefore(time: number, limit: number): Promise<number> {
      return (await db.query(removeBefore, [time, limit])).length;
    },
  };
}
