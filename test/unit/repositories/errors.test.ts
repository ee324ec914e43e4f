import { expect, test } from 'vitest';
import { ConcurrentChange } from '../../../packages/core/src/domain/errors.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { databaseError } from '../../../src/repositories/errors.ts';

const failure = (code?: string, message = 'the connection timeout exceeded') =>
  Object.assign(new Error(message), code !== undefined && { code });

test.each(['08006', '53300', '57P01', '40P01', '55P03', '25006', 'ECONNRESET', 'EAI_AGAIN'])(
  'the code %s is a database that is unavailable',
  (code) => expect(databaseError(failure(code))).toMatchObject({ code: 'UNAVAILABLE', retry_after: 1 }),
);

test.each([undefined, '23514', '42P01'])(
  'words of a message make no error with the code %s transient',
  (code) => {
    const error = failure(code, 'the connection of changed by another transaction');
    expect(databaseError(error)).toBe(error);
  },
);

test.each(['22021', '22P05'])('the code %s is input that cannot be stored', (code) => {
  expect(databaseError(failure(code))).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 });
});

test('the SQLSTATE of a change by another transaction has an error of its own', () => {
  expect(databaseError(failure('AM001'))).toBeInstanceOf(ConcurrentChange);
});

test('a driver reports that it cannot connect as a connection failure', async () => {
  const database = openDatabase({
    url: 'postgres://reader@127.0.0.1:1/none',
    poolSize: 1,
    onError: () => undefined,
  });
  const results = await Promise.allSettled([database.query({ text: 'select 1' }, []), database.begin()]);
  for (const result of results) {
    if (result.status === 'fulfilled') throw new Error('it connected');
    expect(databaseError(result.reason)).toMatchObject({ code: 'UNAVAILABLE' });
  }
  await database.close();
});
