import type { Database } from '../../src/platform/database/database.ts';
import type { Thread } from '../../scripts/parts/population.ts';

const digits = 9;

/** Rows as the service writes them for `$4` messages in each thread, sent by its two members alternately. */
const sql = `
  with place as (
    select * from unnest($1::text[], $2::text[], $3::text[]) with ordinality t (id, one, two, place)
  ), wanted as (
    select id as thread_id, array[one, two] as members, number, case when number % 2 = 0 then one else two end as sender_id,
      upper(lpad(to_hex(place * 1000000 + number), 26, '0')) as name
    from place cross join generate_series(1, $4::int) number
  ), message as (
    insert into messages (id, thread_id, sequence, sender_id, content, content_type, created_at)
    select 'msg_' || name, thread_id, number, sender_id, '#' || lpad(number::text, ${digits}, '0') || $5, 'text', $6::bigint + number from wanted
  ), event as (
    insert into events (id, type, thread_id, message_id, recipients, created_at)
    select 'evt_' || name, 'message.created', thread_id, 'msg_' || name, members, $6::bigint + number from wanted
  ), entry as (
    insert into feed (agent_id, number, event_id) select unnest(members), number, 'evt_' || name from wanted
  ), thread as (
    update threads set last_sequence = $4, last_message_at = $6::bigint, updated_at = $6::bigint where id = any($1)
  )
  update feed_heads set last_number = $4 where agent_id = any($2) or agent_id = any($3)`;

/** Adds this many messages to every thread and to the feeds of its members. The threads must be empty. */
export async function fillFeeds(
  database: Database,
  threads: readonly Thread[],
  messages: number,
): Promise<void> {
  const size = 50;
  for (let at = 0; at < threads.length; at += size) {
    const batch = threads.slice(at, at + size);
    const columns = [
      batch.map(({ id }) => id),
      batch.map(({ members }) => members[0]?.id),
      batch.map(({ members }) => members[1]?.id),
    ];
    const filling = ` ${'lorem ipsum dolor sit amet '.repeat(7)}`;
    // Rows of different batches must have different ids.
    await database.query({ text: sql.replace('place * 1000000', `(place + ${at}) * 1000000`) }, [
      ...columns,
      messages,
      filling,
      Date.now(),
    ]);
  }
  await database.query({ text: 'analyze messages, events, feed, feed_heads' }, []);
}
