import { expect, test } from 'vitest';
import { createCardKey } from '../../support/a2a/remote-card.ts';
import { startRemoteServer } from '../../support/a2a/remote-server.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { storyOf, useInstallation } from './setup.ts';
import { stopAfterTest } from '../../support/use.ts';

const service = useInstallation({ env: { REMOTE_CONFIRM: 'person' } });

/** As a person does in a session of the console. */
async function confirm(id: string): Promise<void> {
  await service.write((work) => work.db.remoteAgents.confirm(id));
  for (const thread_id of await service.write((work) => work.db.remoteThreads.setDue(id, Date.now())))
    await service.pass(thread_id);
}

async function meet({ isSigned = false } = {}) {
  const server = stopAfterTest(await startRemoteServer());
  if (isSigned) server.signWith(createCardKey());
  const ann = await service.agent();
  const remote = await service.addRemote(ann, { card_url: server.cardUrl }, { isReady: false });
  const state = async () => (await service.readRemote(ann, remote.id)).state;
  await waitUntil(() => server.cardRequests()).toBe(1);
  return { server, ann, remote, state };
}

test('a waiting remote agent gets nothing, and everything in order after a person has confirmed it', async () => {
  const { server, ann, remote, state } = await meet();
  const { thread_id } = await service.ask(ann, remote, 'direct one');
  await service.send(ann, thread_id, 'direct two');
  await service.send(ann, thread_id, 'direct three');
  await service.pass(thread_id);
  expect(await state()).toBe('waiting');
  expect(server.calls).toEqual([]);
  await waitUntil(async () => (await service.readRemote(ann, remote.id)).fingerprint).toEqual(
    expect.any(String),
  );
  await confirm(remote.id);
  await waitUntil(() => server.texts()).toEqual(['direct one', 'direct two', 'direct three']);
  await waitUntil(async () => storyOf(await service.messages(ann, thread_id), ann).length).toBe(6);
});

test.each([
  { name: 'another key', change: { isSigned: true }, apply: 'key' },
  { name: 'no signature any more', change: { isSigned: true }, apply: 'unsigned' },
  { name: 'another address', change: {}, apply: 'address' },
])('a card with $name stops the delivery until a person confirms it', async ({ change, apply }) => {
  const { server, ann, remote, state } = await meet(change);
  await waitUntil(async () => (await service.readRemote(ann, remote.id)).fingerprint).toEqual(
    expect.any(String),
  );
  await confirm(remote.id);
  const { thread_id, task_id } = await service.ask(ann, remote, 'One?');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');

  const moved = stopAfterTest(await startRemoteServer());
  if (apply === 'key') server.signWith(createCardKey());
  if (apply === 'unsigned') server.signWith(undefined);
  if (apply === 'address') server.changeCard({ supportedInterfaces: moved.interfaces });
  const refreshed = await service.post(ann, `/remote-agents/${remote.id}/refresh`);
  expect(refreshed.status, refreshed.text).toBeLessThan(300);
  await waitUntil(state).toBe('waiting');
  const { task_id: second } = await service.ask(ann, { thread_id }, 'Two?');
  await service.pass(thread_id);
  expect(server.texts()).toEqual(['One?']);
  expect(moved.texts()).toEqual([]);
  await confirm(remote.id);
  await waitUntil(async () => (await service.readTask(ann, second)).state).toBe('completed');
  expect([...server.texts(), ...moved.texts()]).toEqual(['One?', 'Two?']);
});

test('a change of the skills needs no person', async () => {
  const { server, ann, remote, state } = await meet({ isSigned: true });
  await waitUntil(async () => (await service.readRemote(ann, remote.id)).fingerprint).toEqual(
    expect.any(String),
  );
  await confirm(remote.id);
  server.changeCard({ description: 'Another description.' });
  await service.post(ann, `/remote-agents/${remote.id}/refresh`);
  await waitUntil(() => server.cardRequests()).toBe(2);
  await waitUntil(async () => (await service.readRemote(ann, remote.id)).description).toBe(
    'Another description.',
  );
  expect(await state()).toBe('ready');
});
