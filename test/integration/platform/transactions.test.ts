import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { use } from '../../support/use.ts';

const place = use(createTestDatabase);
const database = use(async () => openDatabase({ url: place.url, poolSize: 1, onError: () => undefined }));

const refuse = { text: `do $$ begin raise exception 'no space' using errcode = '53100'; end $$` };

test('statements after a failed one reject with its error, and so does the commit', async () => {
  const transaction = await database.begin();
  const sent = [refuse, { text: 'select 1' }].map((statement) => transaction.query(statement, []));
  const outcomes = await Promise.allSettled([...sent, transaction.commit()]);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '53100', message: 'no space' } });
});

test('a connection to a server that takes no writes is not used again', async () => {
  const readPid = async () =>
    (await database.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' }, []))[0];
  const before = await readPid();
  const transaction = await database.begin();
  await transaction.query({ text: 'set transaction read only' }, []);
  await expect(transaction.query({ text: 'delete from agents' }, [])).rejects.toMatchObject({
    code: '25006',
  });
  await transaction.rollback();
  expect(await readPid()).not.toEqual(before);
});
