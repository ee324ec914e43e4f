import { expect, onTestFinished, test } from 'vitest';
import { outcomeOf } from '../../clients/rest.ts';
import type { TestAgent } from '../../support/service.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { meetRemote, storyOf, useInstallation } from './setup.ts';
import { startRemoteServer } from '../../support/a2a/remote-server.ts';

const service = useInstallation();

test('a thread with a remote agent takes no further member', async () => {
  const { ann, remote } = await meetRemote(service);
  const carl = await service.agent();
  const thread_id = await service.thread(ann, remote);
  const added = await service.post(ann, `/threads/${thread_id}/members`, { handle: carl.handle });
  expect(added.status).toBeGreaterThanOrEqual(400);
  const { body } = await service.get(ann, `/threads/${thread_id}`);
  expect(body.members ?? body.participants).toHaveLength(2);
});

test('a group with a remote agent is refused', async () => {
  const { ann, remote } = await meetRemote(service);
  const carl = await service.agent();
  const group = await service.post(ann, '/threads', { participants: [remote.handle, carl.handle] });
  expect(outcomeOf(group)).toMatch(/^4\d\d /);
  const thread_id = await service.thread(ann, carl);
  const added = await service.post(ann, `/threads/${thread_id}/members`, { handle: remote.handle });
  expect(outcomeOf(added)).toMatch(/^4\d\d /);
});

test('a remote agent is hidden from agents of other owners', async () => {
  const { remote, server } = await meetRemote(service);
  const carl = await service.agent();
  const written = await service.post(carl, '/threads', {
    with_handle: remote.handle,
    initial_message: 'Hello',
  });
  expect(outcomeOf(written)).toBe('404 AGENT_NOT_FOUND');
  expect(outcomeOf(await service.get(carl, `/remote-agents/${remote.id}`))).toMatch(/^404 /);
  expect((await service.get(carl, '/remote-agents')).body.remote_agents).toEqual([]);
  expect(server.calls).toEqual([]);
});

test('a second owner who adds the same card has a record of their own', async () => {
  const { remote, server } = await meetRemote(service);
  const carl = await service.agent();
  const other = await service.addRemote(carl, { card_url: server.cardUrl });
  expect(other.id).not.toBe(remote.id);
  const { task_id } = await service.ask(carl, other, 'When?');
  await waitUntil(async () => (await service.readTask(carl, task_id)).state).toBe('completed');
});

test('no token can be had for a remote agent', async () => {
  const { remote } = await meetRemote(service);
  await expect(service.token(remote.handle)).rejects.toThrow();
});

test('the agent leaves the thread: nothing more is sent', async () => {
  const { ann, remote, server } = await meetRemote(service);
  const { thread_id } = await service.ask(ann, remote, 'silent');
  await waitUntil(() => server.texts()).toEqual(['silent']);
  const closed = await service.patch(ann, `/threads/${thread_id}`, { status: 'closed' });
  expect(closed.status, closed.text).toBe(200);
  expect(outcomeOf(await service.post(ann, `/threads/${thread_id}/messages`, { content: 'Hello?' }))).toMatch(
    /^4/,
  );
});

test('what an agent of another system says after its thread was closed is left out', async () => {
  const { ann, remote, server } = await meetRemote(service);
  const { thread_id } = await service.ask(ann, remote, 'wait');
  await waitUntil(() => server.agent.turnsOf('wait').length).toBe(1);
  await service.patch(ann, `/threads/${thread_id}`, { status: 'closed' });
  server.agent.turnsOf('wait')[0]?.complete('later');
  await service.pass(thread_id);
  const other = await service.ask(ann, remote, 'When?');
  await waitUntil(async () => (await service.readTask(ann, other.task_id)).state).toBe('completed');
  expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual(['here: wait']);
  const open = 'select 1 from remote_tasks where thread_id = $1 and poll_at is not null';
  await waitUntil(async () => {
    await service.pass(thread_id);
    return service.sql(open, [thread_id]);
  }).toEqual([]);
});

test('a removed remote agent gets nothing more, and its open tasks end', async () => {
  const { ann, remote, server } = await meetRemote(service);
  const { task_id } = await service.ask(ann, remote, 'silent');
  await waitUntil(() => server.texts()).toEqual(['silent']);
  const removed = await service.delete(ann, `/remote-agents/${remote.id}`);
  expect(removed.status, removed.text).toBeLessThan(300);
  expect(outcomeOf(await service.get(ann, `/remote-agents/${remote.id}`))).toMatch(/^404 /);
  expect((await service.readTask(ann, task_id)).state).toBe('failed');
  const again = await service.post(ann, '/threads', { with_handle: remote.handle, initial_message: 'Hello' });
  expect(again.status).toBeGreaterThanOrEqual(400);
});

test('a remote agent is removed while its threads are at work', async () => {
  for (let round = 0; round < 5; round++) {
    const { ann, remote, server } = await meetRemote(service);
    const sending = Array.from({ length: 8 }, (_, index) => service.ask(ann, remote, `Question ${index}`));
    const questions = await Promise.all(sending);
    await waitUntil(() => server.texts().length).toBeGreaterThan(round);
    const removed = await service.delete(ann, `/remote-agents/${remote.id}`);
    expect(removed.status, removed.text).toBe(204);
    const states = await Promise.all(
      questions.map(async ({ task_id }) => (await service.readTask(ann, task_id)).state),
    );
    expect(states.filter((state) => state !== 'failed' && state !== 'completed')).toEqual([]);
  }
});

test('a card whose server is away at first is fetched later', async () => {
  const server = await startRemoteServer();
  onTestFinished(() => server.close());
  server.failCard(2);
  const ann = await service.agent();
  await service.addRemote(ann, { card_url: server.cardUrl });
  expect(server.cardRequests()).toBe(3);
});

test.each([
  {
    name: 'for now',
    refuse: async (ann: TestAgent) => service.pause(ann, true),
    error: { code: 'AGENT_PAUSED', message: expect.stringContaining('is paused by its owner') },
  },
  {
    name: 'for good',
    refuse: async (ann: TestAgent, thread_id: string) => {
      expect((await service.patch(ann, `/threads/${thread_id}`, { status: 'closed' })).status).toBe(200);
    },
    error: { code: 'THREAD_CLOSED', message: expect.stringContaining('the answer was refused') },
  },
])('the sender is told why a message in place of a task is refused $name', async ({ refuse, error }) => {
  const { server, ann, remote } = await meetRemote(service);
  const events = await service.follow(ann, 'message.undeliverable');
  const release = server.hold();
  const { thread_id, message_id } = await service.ask(ann, remote, 'direct one');
  await refuse(ann, thread_id);
  release();
  const outcome = 'select outcome from remote_messages where message_id = $1';
  await waitUntil(() => service.sql(outcome, [message_id])).toEqual([{ outcome: 'unknown' }]);
  await service.pause(ann, false);
  expect(await events()).toMatchObject([{ message_id, outcome: 'unknown', error }]);
});
