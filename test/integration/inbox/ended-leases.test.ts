import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { signInWithCredential } from '../../clients/credentials.ts';
import { revokeCredential } from '../../../src/services/auth/credentials.ts';
import { endTokens } from '../../../src/services/auth/revocations.ts';
import { outcomeOf, requestRest } from '../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { inboxOf, startWork } from './setup.ts';

const service = useSharedService();

const readStates = async ({ id }: TestAgent) => {
  const text = 'select state, attempts from inbox_items where agent_id = $1 order by number';
  return service.sql<{ state: string; attempts: number }>(text, [id]);
};

/** Pauses an agent, or ends the pause, with a token of its owner. */
async function setPaused({ id, handle }: TestAgent, paused: boolean): Promise<void> {
  const token = await service.token(handle, { scopes: ['agents:write'] });
  const answer = await service.patch({ token }, `/agents/${id}`, { paused });
  expect(answer.status).toBe(200);
}

test('a paused agent loses its leases at once and claims nothing; the attempts do not count', async () => {
  const { worker, inbox, send } = await startWork(service, { max_attempts: 1 });
  await send('one');
  const [lease] = await inbox.leases();
  await setPaused(worker, true);
  expect(await readStates(worker)).toEqual([{ state: 'ready', attempts: 0 }]);
  expect((await inbox.acknowledge(lease?.id ?? '')).body.error.code).toBe('LEASE_LOST');
  const refused = await inbox.claim({ wait_seconds: 20 });
  expect(outcomeOf(refused)).toBe('503 AGENT_PAUSED');
  await setPaused(worker, false);
  const [again] = await inbox.leases();
  expect([again?.attempt, again?.id === lease?.id]).toEqual([1, false]);
  expect(again?.fencing_token).toBeGreaterThan(lease?.fencing_token ?? 0);
});

test('a claim that waits is refused when its agent is paused', async () => {
  const { worker, inbox } = await startWork(service);
  const waiting = inbox.claim({ wait_seconds: 20 });
  await setPaused(worker, true);
  expect((await waiting).body.error.code).toBe('AGENT_PAUSED');
});

test('a retired agent has no inbox and no items', async () => {
  const { worker, inbox, send } = await startWork(service);
  await send('one');
  await inbox.leases({ consumer: 'a' });
  const token = await service.token(worker.handle, { scopes: ['agents:write'] });
  expect((await service.delete({ token }, `/agents/${worker.id}`)).status).toBe(204);
  expect((await inbox.claim()).status).toBe(401);
  expect(await readStates(worker)).toEqual([]);
  for (const table of ['inboxes', 'inbox_consumers']) {
    const text = `select agent_id from ${table} where agent_id = $1`;
    expect(await service.sql(text, [worker.id])).toEqual([]);
  }
});

test('items of a thread leave the inbox with the member; others stay', async () => {
  const { asker, worker, inbox, thread, openThread, send } = await startWork(service, {
    types: ['message.created', 'thread.member_removed'],
  });
  const third = await service.agent();
  const members = `${service.api}/threads/${thread}/members`;
  await requestRest('POST', members, { token: asker.token, body: { handle: third.handle } });
  await send('one');
  await send('two');
  const [lease] = await inbox.leases();
  await send('other', await openThread());
  await send('three');
  const removed = await requestRest('DELETE', `${members}/${worker.id}`, { token: asker.token });
  expect(removed.status).toBe(204);
  expect((await inbox.acknowledge(lease?.id ?? '', { reply: 'x' })).body.error.code).toBe('LEASE_LOST');
  const left = await inbox.leases({ max: 10 });
  expect(left.map(({ event }) => event.data.content ?? event.type)).toEqual([
    'other',
    'thread.member_removed',
  ]);
});

test('a revoked credential ends the leases of its tokens, and not those of others', async () => {
  const { worker, inbox, openThread, send } = await startWork(service);
  await send('one');
  await send('two', await openThread());
  const { client_id, token } = await signInWithCredential(service, worker);
  const revoked = inboxOf(service.api, { token });
  const [ended] = await revoked.leases();
  const [kept] = await inbox.leases();
  // The instance that stays waits for the items of the other one.
  const waiting = inbox.leases({ wait_seconds: 20 });
  const revocations = await service.write((work) => revokeCredential(work, client_id));
  await service.parts.live.publishRevocations(revocations);
  const [taken] = await waiting;
  expect([taken?.event.id, taken?.attempt]).toEqual([ended?.event.id, 1]);
  expect((await revoked.acknowledge(ended?.id ?? '')).status).toBe(401);
  expect((await inbox.acknowledge(ended?.id ?? '')).body.error.code).toBe('LEASE_LOST');
  expect((await inbox.acknowledge(kept?.id ?? '')).status).toBe(200);
});

test('a token that was just revoked claims nothing, even where it is cached', async () => {
  const { worker, send } = await startWork(service);
  await send('one');
  const token = await service.token(worker.handle);
  const inbox = inboxOf(service.api, { token });
  const [lease] = await inbox.leases();
  const token_id = hash('sha256', token, 'base64url');
  await service.write((work) => endTokens(work, { token_id }));
  expect(await readStates(worker)).toEqual([{ state: 'ready', attempts: 0 }]);
  const claim = await inbox.claim();
  expect(outcomeOf(claim)).toBe('401 UNAUTHORIZED');
  const reply = await inbox.acknowledge(lease?.id ?? '', { reply: 'x' });
  expect(reply.body.error.code).toMatch(/LEASE_LOST|UNAUTHORIZED/);
});
