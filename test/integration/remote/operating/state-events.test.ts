import { expect, test } from 'vitest';
import { createCardKey } from '../../../support/a2a/remote-card.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { meetRemote, useInstallation } from '../setup.ts';

const service = useInstallation();

test('agents of the owner get an event when a remote agent begins or ceases to fail', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const bob = await service.agent();
  const [seen, hidden] = [
    await service.follow(ann, 'agent.updated'),
    await service.follow(bob, 'agent.updated'),
  ];
  const thread_id = await service.thread(ann, remote);
  server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '3600' } });
  await service.send(ann, thread_id, 'silent one');
  await waitUntil(seen).toMatchObject([
    { id: remote.id, remote: { state: 'ready', failing_since: expect.any(Number) } },
  ]);
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
