import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '../../../../src/transports/http/app.ts';
import { createRateLimits } from '../../../../src/operations/rate-limits.ts';
import { createPostgresLimiter } from '../../../../src/platform/rate-limits/postgres.ts';
import { createLogger } from '../../../../src/platform/observability/logger.ts';
import { limitByAddress } from '../../../../src/transports/rest/card.ts';
import { createTestDatabase } from '../../../support/servers/postgres/database.ts';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';

/** A route without a token, limited to two calls per minute and address. */
async function startRoute(trust_proxy: boolean) {
  const database = await createTestDatabase();
  const two = { points: 2, seconds: 60 };
  const every = { create_thread: two, send_message: two, message_search: two, contact_request: two };
  const limits = { ...every, default: two, public: two };
  const limiter = createPostgresLimiter({ url: database.url, limits, log: () => undefined });
  const app = createApp({
    logger: createLogger({ level: 'silent', part: 'test' }),
    trust_proxy,
    is_https: false,
    handlers: [
      limitByAddress(createRateLimits(limiter)),
      async (ctx) => {
        ctx.body = {};
      },
    ],
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await limiter.close();
    await database.drop();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return async (forwarded: string) => requestRest('GET', url, { headers: { 'X-Forwarded-For': forwarded } });
}

test('each address has its own limit behind a proxy, and callers cannot forge it', async () => {
  const call = await startRoute(true);
  expect((await call('203.0.113.1')).headers.get('ratelimit')).toMatch(/^"public";r=1;t=\d+$/);
  expect((await call('192.0.2.77, 203.0.113.1')).status).toBe(200);
  const refused = await call('192.0.2.78, 203.0.113.1');
  expect(outcomeOf(refused)).toBe('429 RATE_LIMITED');
  expect((await call('203.0.113.2')).status).toBe(200);
});

test('without a proxy a forwarded address is ignored', async () => {
  const call = await startRoute(false);
  const answers = [await call('203.0.113.1'), await call('203.0.113.2'), await call('203.0.113.3')];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
});
