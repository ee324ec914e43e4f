import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { endTokens } from '../../../src/services/auth/revocations.ts';
import { useSharedService } from '../../support/service.ts';
import { inboxOf, startWork } from './setup.ts';

/** Calls of one agent that arrive together share a transaction. Each has its own result. */

const service = useSharedService();

test('parallel claims have their own consumer, length and maximum', async () => {
  const { inbox, openThread, send } = await startWork(service);
  for (let sent = 0; sent < 10; sent += 1) await send('x', await openThread());
  const requests = [
    { max: 1, lease_seconds: 30, consumer: 'a' },
    { max: 2, lease_seconds: 300, consumer: 'b' },
    { max: 3, lease_seconds: 3_000, consumer: 'c' },
    { max: 4, consumer: 'd' },
  ];
  const claimed = await Promise.all(requests.map((request) => inbox.leases(request)));
  expect(claimed.map(({ length }) => length)).toEqual([1, 2, 3, 4]);
  expect(new Set(claimed.flat().map(({ event }) => event.id)).size).toBe(10);
  const inSeconds = claimed.map(
    ([lease]) => Math.round(((lease?.expires_at ?? 0) - Date.now()) / 30_000) * 30,
  );
  expect(inSeconds).toEqual([30, 300, 3_000, 60]);
  const { consumers } = (await inbox.get()).body;
  expect(
    new Map(consumers.map(({ name, leased }: { name: string; leased: number }) => [name, leased])),
  ).toEqual(
    new Map([
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 4],
    ]),
  );
});

test('a parallel claim with a revoked token is refused alone', async () => {
  const { worker, inbox, openThread, send } = await startWork(service);
  for (let sent = 0; sent < 4; sent += 1) await send('x', await openThread());
  const token = await service.token(worker.handle);
  const revoked = inboxOf(service.api, { token });
  // The process has seen the token, and does not know yet that it is revoked.
  expect(await revoked.leases()).toHaveLength(1);
  const token_id = hash('sha256', token, 'base64url');
  await service.write((work) => endTokens(work, { token_id }));
  const answers = await Promise.all([inbox.claim(), revoked.claim(), inbox.claim(), inbox.claim()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 200]);
  expect(answers.flatMap(({ body }) => body.leases ?? [])).toHaveLength(3);
});

test('parallel claims of an inbox that was turned off, and of a paused agent, are all refused', async () => {
  const { worker, inbox } = await startWork(service);
  const pause = 'update agents set paused = true where id = $1';
  await service.sql(pause, [worker.id]);
  const paused = await Promise.all([inbox.claim(), inbox.claim(), inbox.claim()]);
  expect(paused.map(({ body }) => body.error.code)).toEqual(paused.map(() => 'AGENT_PAUSED'));
  const none = inboxOf(service.api, await service.agent());
  await none.turnOn();
  await none.turnOff();
  const refused = await Promise.all([none.claim(), none.claim(), none.claim()]);
  expect(refused.map(({ body }) => body.error.code)).toEqual(refused.map(() => 'INBOX_NOT_FOUND'));
});

test('parallel acknowledgements of the same leases succeed once', async () => {
  const { inbox, openThread, send } = await startWork(service);
  for (let sent = 0; sent < 5; sent += 1) await send('x', await openThread());
  const ids = (await inbox.leases({ max: 5 })).map(({ id }) => id);
  const answers = await Promise.all(Array.from({ length: 4 }, () => inbox.acknowledgeAll([...ids, 'lse_x'])));
  const results = answers.map(({ body }) => body.results.map(({ result }: { result: string }) => result));
  for (const [at] of ids.entries()) {
    const ofLease = results.map((each) => String(each[at])).toSorted((a, b) => a.localeCompare(b));
    expect(ofLease).toEqual(['acknowledged', 'lost', 'lost', 'lost']);
  }
  expect(results.map((each) => each.at(-1))).toEqual(results.map(() => 'not_found'));
  expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 0 });
});
