import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { EarlierIsMissing } from '../../../src/services/remote/order.ts';
import { answerErrors } from '../../../src/transports/http/errors.ts';
import { createLogRecorder } from '../../support/log-recorder.ts';

/** Returns the warnings and errors that are logged when a request fails with this error. */
async function logOf(error: Error, status: number): Promise<unknown[]> {
  const { logger, entries } = createLogRecorder();
  const ctx = { method: 'POST', path: '/a2a/-/updates/secret', state: {}, set() {} } as unknown as Context;
  await answerErrors(logger)(ctx, () => {
    throw error;
  });
  expect(ctx.status).toBe(status);
  return entries;
}

test('a refusal that only asks the caller to come again is no error of the service', async () => {
  expect(await logOf(new EarlierIsMissing(), 503)).toEqual([]);
});

test('an outage and an unexpected error are logged with their cause', async () => {
  const cause = new Error('connect ECONNREFUSED');
  const path = '/a2a/-/updates/…';
  const outage = new DomainError('UNAVAILABLE', 'The database is temporarily unavailable. Retry.', { cause });
  expect(await logOf(outage, 503)).toMatchObject([{ err: cause, path, message: 'UNAVAILABLE' }]);
  expect(await logOf(cause, 500)).toMatchObject([{ err: cause, path, message: 'INTERNAL' }]);
});
