import { afterAll, beforeAll, expect, test } from 'vitest';
import { rest } from '../../support/rest-client.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: false, env: { DATABASE_POOL_SIZE: '6' } });
});
afterAll(() => service.stop());

test('a crowd in one thread is served whole, and leaves connections to everybody else', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const made = await rest('POST', `${service.api}/threads`, {
    token: ann.token,
    body: { with_handle: bob.handle },
  });
  const url = `${service.api}/threads/${made.body.id}/messages`;
  let done = 0;
  const crowd = Array.from({ length: 150 }, async (_, index) => {
    const answer = await rest('POST', url, { token: ann.token, body: { content: `m${index}` } });
    done += 1;
    return answer.status;
  });
  const other = await rest('GET', `${service.api}/threads`, { token: bob.token });
  expect(other.status).toBe(200);
  expect(done).toBeLessThan(150);
  expect(new Set(await Promise.all(crowd))).toEqual(new Set([201]));
});
