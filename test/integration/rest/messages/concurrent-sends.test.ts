import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test, vi } from 'vitest';
import { useService } from '../../../support/service.ts';

const service = useService({ worker: false, env: { DATABASE_POOL_SIZE: '6' } });

test('many senders in one thread are all served, and leave connections to others', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread = await service.thread(ann, bob);
  let done = 0;
  const calls = Array.from({ length: 150 }, async (_, index) => {
    const answer = await service.post(ann, `/threads/${thread}/messages`, { content: `m${index}` });
    done += 1;
    return answer.status;
  });
  const other = await service.get(bob, '/threads');
  expect(other.status).toBe(200);
  expect(done).toBeLessThan(150);
  expect(new Set(await Promise.all(calls))).toEqual(new Set([201]));
});

test('token lookups are batched, so no caller is refused for lack of a connection', async () => {
  const size = 300;
  let arrived = 0;
  const count = () => void (arrived += 1);
  const hold = await service.core.database.begin();
  subscribe('http.server.request.start', count);
  try {
    await hold.query({ text: 'lock table access_tokens in access exclusive mode' }, []);
    const calls = Array.from({ length: size }, () => service.get({ token: randomUUID() }, '/agents/me'));
    await vi.waitFor(() => expect(arrived).toBe(size), { timeout: 20_000 });
    await hold.rollback();
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  } finally {
    unsubscribe('http.server.request.start', count);
    await hold.rollback();
  }
});
