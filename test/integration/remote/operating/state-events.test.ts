import { expect, test } from 'vitest';
import { createCardKey } from '../../../support/a2a/remote-card.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import type { Fault } from '../../../support/a2a/remote-server.ts';
import { type AddedRemote, meetRemote, useInstallation } from '../setup.ts';

const service = useInstallation();

/** As if the failure had begun two minutes ago. */
const makeOld = ({ id }: AddedRemote) =>
  service.sql('update remote_agents set failing_since = failing_since - 120000 where agent_id = $1', [id]);

const later: Fault = { status: 503, headers: { 'Retry-After': '3600' } };

test('agents of the owner get an event when a remote agent fails for a minute, and when it ceases to fail', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const bob = await service.agent();
  const [seen, hidden] = [
    await service.follow(ann, 'agent.updated'),
    await service.follow(bob, 'agent.updated'),
  ];
  const thread_id = await service.thread(ann, remote);
  server.failNext('SendMessage', later, 3);
  await service.send(ann, thread_id, 'silent one');
  const lastError = async () => (await service.readRemote(ann, remote.id)).last_error;
  await waitUntil(lastError).toEqual(expect.any(String));
  expect(await seen()).toEqual([]);
  await makeOld(remote);
  await service.pass(thread_id);
  await waitUntil(seen).toMatchObject([
    { id: remote.id, remote: { state: 'ready', failing_since: expect.any(Number) } },
  ]);
  expect(await seen()).toMatchObject([
    { remote: { failing_since: (await service.readRemote(ann, remote.id)).failing_since } },
  ]);
  await service.pass(thread_id);
  await waitUntil(() => server.texts().length).toBe(3);
  await service.pass(thread_id);
  await service.send(ann, thread_id, 'silent two');
  await waitUntil(seen).toMatchObject([
    {},
    { id: remote.id, remote: { state: 'ready', failing_since: null } },
  ]);
  await waitUntil(async () => (await service.marks(ann, thread_id, remote)).delivered).toBe(2);
  expect(await seen()).toHaveLength(2);
  expect(await hidden()).toEqual([]);
});

test('when a failure that lasted ends in one conversation, the others continue at once', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const [one, other] = [await service.thread(ann, remote), await service.thread(ann, remote)];
  server.failNext('SendMessage', later, 3);
  await service.send(ann, one, 'silent one');
  await waitUntil(() => server.texts()).toEqual(['silent one']);
  await service.holdThread(one);
  await makeOld(remote);
  await service.send(ann, other, 'silent other');
  await waitUntil(() => server.texts()).toEqual(['silent one', 'silent other']);
  await service.pass(one);
  await waitUntil(() => server.texts().length).toBe(3);
  await service.holdThread(one);
  await service.pass(one);
  await waitUntil(() => server.texts().slice(3)).toEqual(['silent one', 'silent other']);
});

test('conversations that continue early keep their attempts, and idle ones are left out', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const [idle, waiting] = [await service.thread(ann, remote), await service.thread(ann, remote)];
  server.failNext('SendMessage', later);
  await service.send(ann, waiting, 'silent');
  await waitUntil(() => server.texts()).toEqual(['silent']);
  for (const id of [idle, waiting]) await service.holdThread(id);
  await service.sql('update remote_threads set attempts = 200 where thread_id = $1', [waiting]);
  const soon = Date.now() + 600_000;
  expect(await service.core.db.remoteThreads.resume(remote.id, soon)).toEqual([waiting]);
  const state = 'select attempts, next_at = $2 as is_due from remote_threads where thread_id = $1';
  expect(await service.sql(state, [waiting, soon])).toEqual([{ attempts: 199, is_due: true }]);
});

test('they get none while it fails and succeeds in turn, however long that is', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const seen = await service.follow(ann, 'agent.updated');
  const thread_id = await service.thread(ann, remote);
  for (let round = 1; round <= 5; round += 1) {
    server.failNext('SendMessage', later);
    await service.send(ann, thread_id, `silent ${round}`);
    const failingSince = async () => (await service.readRemote(ann, remote.id)).failing_since;
    await waitUntil(failingSince).toEqual(expect.any(Number));
    // The next attempt is much later, and succeeds.
    await makeOld(remote);
    await service.pass(thread_id);
    await waitUntil(async () => (await service.marks(ann, thread_id, remote)).delivered).toBe(round);
    await waitUntil(failingSince).toBe(null);
  }
  expect(await seen()).toEqual([]);
});

test('they get one when another key stops the delivery, and when the known one is back', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const seen = await service.follow(ann, 'agent.updated');
  const check = async () =>
    expect((await service.post(ann, `/remote-agents/${remote.id}/refresh`)).status).toBe(200);
  server.signWith(createCardKey());
  await check();
  await waitUntil(seen).toMatchObject([{ id: remote.id, remote: { state: 'waiting', failing_since: null } }]);
  server.signWith(undefined);
  await check();
  await waitUntil(seen).toMatchObject([
    {},
    { id: remote.id, remote: { state: 'ready', failing_since: null } },
  ]);
});
