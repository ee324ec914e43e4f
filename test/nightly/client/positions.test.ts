import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { connectTo } from '../../support/servers/postgres/database.ts';
import { expect, test } from 'vitest';
import { type CursorStore, fileCursor, sqlCursor } from '../../../packages/client/src/node/main.ts';
import { useSharedService } from '../../support/service.ts';
import { sendNumbers, startConversation } from '../../integration/client/setup.ts';
import { createFolder } from '../../support/use.ts';

const service = useSharedService();

test('a position in a file survives the program, and is replaced atomically', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  const folder = await createFolder();
  const path = join(folder, 'deep', 'cursor');
  await sendNumbers(asAda, thread_id, 1, 3);
  const handled: string[] = [];
  for (let run = 0; run < 3; run += 1) {
    for await (const event of asBob.events({ cursor: fileCursor(path) })) {
      handled.push(event.cursor);
      // The second event is the first one of the second run: this one ends before its position is stored.
      if (handled.length % 2 === 0) break;
    }
  }
  expect(handled).toHaveLength(6);
  expect(handled[2]).toBe(handled[1]);
  expect(await readFile(path, 'utf8')).toBe(`${handled[4]}\n`);
  expect(await readdir(join(folder, 'deep'))).toEqual(['cursor']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a position in the database of the caller is stored only in the transaction of the work', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  const database = await connectTo(service.env['DATABASE_URL']);
  const query = async (text: string, values: readonly string[] = []) =>
    (await database.query(text, [...values])).rows;
  const open = () => sqlCursor(query, { table: 'test_cursors', name: 'bob' });
  await open().createTable();
  await query('create table test_work (id text primary key, content text)');
  await sendNumbers(asAda, thread_id, 1, 3);

  async function work(isFailing: boolean): Promise<void> {
    const cursor = open();
    const events = asBob.events({ cursor });
    for await (const event of events) {
      if (event.type !== 'message.created') continue;
      await query('begin');
      await query('insert into test_work values ($1, $2)', [event.id, event.data.content]);
      await cursor.saveIn(query, event.cursor);
      if (isFailing && event.data.content === '2') {
        await query('rollback');
        throw new Error('the work failed');
      }
      await query('commit');
      if (event.data.content === '3') break;
    }
  }
  await expect(work(true)).rejects.toThrow('the work failed');
  await work(false);
  const rows = await query('select content from test_work order by id');
  expect(rows.map((row) => Reflect.get(row, 'content'))).toEqual(['1', '2', '3']);
  // The position is that of the last work, although the loop ended by break.
  await sendNumbers(asAda, thread_id, 4, 4);
  for await (const event of asBob.events({ cursor: open() })) {
    expect(event).toMatchObject({ data: { content: '4' } });
    break;
  }
  expect(() => sqlCursor(query, { table: 'a; drop table b' })).toThrow('no name of a table');
});

test.each(['poll', 'websocket'] as const)('over %s, a gap must be accepted', async (transport) => {
  const { asAda, asBob, bob, thread_id } = await startConversation(service);
  let first: string | undefined;
  for await (const event of asBob.events()) {
    first = event.cursor;
    break;
  }
  await sendNumbers(asAda, thread_id, 1, 3);
  // As retention does, up to the last message.
  await service.core.database.query(
    {
      text: `delete from feed where agent_id = $1
        and number < (select max(number) from feed where agent_id = $1)`,
    },
    [bob.id],
  );

  let position = first;
  const cursor: CursorStore = {
    load: async () => position,
    async save(next) {
      position = next;
    },
  };
  async function read(isAccepted: boolean): Promise<string[]> {
    const seen: string[] = [];
    for await (const event of asBob.events({ cursor, transport })) {
      seen.push(event.type === 'message.created' ? event.data.content : event.type);
      if (event.type === 'gap' && isAccepted) event.accept();
      if (seen.at(-1) === '3') break;
    }
    return seen;
  }
  await expect(read(false)).rejects.toMatchObject({ name: 'GapError', code: 'GAP_NOT_ACCEPTED' });
  expect(position).toBe(first);
  expect(await read(true)).toEqual(['gap', '3']);
});
