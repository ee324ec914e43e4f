import { expect, test } from 'vitest';
import { expireItems } from '../../../src/services/inbox/expiry.ts';
import { followFeed } from '../../clients/feed.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { expireLeases, inboxOf } from '../inbox/setup.ts';
import { changesIn, tasksOf } from './setup.ts';

const service = useSharedService();
const { pair, openTask, read, stateOf, send, report, cancel } = tasksOf(service);

/** A task for an agent whose instances share an inbox. */
async function openWork(settings: object = {}) {
  const [client, worker] = await pair();
  const inbox = inboxOf(service.api, worker);
  await inbox.turnOn(settings);
  const { id, thread_id } = await openTask(client, worker);
  const claim = async () => {
    const [lease] = await inbox.leases();
    if (!lease) throw new Error('no item is ready');
    return lease;
  };
  return { client, worker, inbox, id, thread_id, claim, state: () => stateOf(client, id) };
}

/** Manages an agent with a token of its owner. */
const manage = async (method: 'patch' | 'delete', { id, handle }: TestAgent, body?: object) => {
  const token = await service.token(handle, { scopes: ['agents:write'] });
  return service[method]({ token }, `/agents/${id}`, body);
};

test('a claim makes it working, and a reply with the acknowledgement completes it', async () => {
  const { client, inbox, id, claim, state } = await openWork();
  const events = await followFeed(service.api, client.token);
  const lease = await claim();
  expect(await state()).toEqual(['working', 2]);
  expect((await inbox.acknowledge(lease.id, { reply: 'Tomorrow.' })).status).toBe(200);
  expect(await state()).toEqual(['completed', 4]);
  expect((await read(client, id)).messages.at(-1)).toMatchObject({ content: 'Tomorrow.', artifact: true });
  expect(changesIn(await events())).toEqual([
    ['state', 'working', 2],
    ['result', 'working', 3],
    ['state', 'completed', 4],
  ]);
});

test('a reply asks back with a task_state, and the answer is leased again', async () => {
  const { client, inbox, thread_id, claim, state } = await openWork();
  const question = await inbox.acknowledge((await claim()).id, {
    reply: 'Which?',
    task_state: 'input_required',
  });
  expect(question.status, question.text).toBe(200);
  expect(await state()).toEqual(['input_required', 3]);
  await send(client, thread_id, { content: '1042' });
  expect(await state()).toEqual(['working', 4]);
  const lease = await claim();
  await inbox.acknowledge(lease.id, { reply: 'Tomorrow.' });
  expect((await state())[0]).toBe('completed');
  const refused = await inbox.acknowledge(lease.id, { task_state: 'failed' });
  expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'task_state']);
});

test('an item that is acknowledged without a reply leaves it working', async () => {
  const { inbox, claim, state } = await openWork();
  await inbox.acknowledge((await claim()).id);
  expect(await state()).toEqual(['working', 2]);
});

test.each([
  ['released', async ({ inbox }: Work, lease: string) => inbox.release(lease)],
  ['paused', ({ worker }: Work) => manage('patch', worker, { paused: true })],
  ['turned off', ({ inbox }: Work) => inbox.turnOff()],
  ['expired and turned off', ({ inbox, worker }: Work) => expireLeases(service, worker).then(inbox.turnOff)],
])('the end of a lease makes it submitted again: %s', async (_name, end) => {
  const work = await openWork();
  const lease = await work.claim();
  const answer = await end(work, lease.id);
  expect(answer.status, answer.text).toBeLessThan(300);
  expect(await work.state()).toEqual(['submitted', 3]);
});

type Work = Awaited<ReturnType<typeof openWork>>;

test('an expired lease makes it submitted, and the same claim working again', async () => {
  const { client, worker, claim, state } = await openWork({ max_attempts: 2 });
  const events = await followFeed(service.api, client.token);
  await claim();
  await expireLeases(service, worker);
  expect(await state()).toEqual(['working', 2]);
  expect((await claim()).attempt).toBe(2);
  expect(changesIn(await events())).toEqual([
    ['state', 'working', 2],
    ['state', 'submitted', 3],
    ['state', 'working', 4],
  ]);
});

test('what the agent itself said survives the end of its lease', async () => {
  const { worker, inbox, id, claim, state } = await openWork();
  const lease = await claim();
  await report(worker, id, { state: 'working', message: 'Half done.', lease_id: lease.id });
  expect(await state()).toEqual(['working', 3]);
  await inbox.release(lease.id);
  expect(await state()).toEqual(['working', 3]);
  const late = await report(worker, id, { state: 'completed', lease_id: lease.id });
  expect([late.status, late.body.error.code]).toEqual([409, 'LEASE_LOST']);
  expect(await state()).toEqual(['working', 3]);
});

test('a dead item leaves it submitted, and removing the item fails it', async () => {
  const { worker, inbox, claim, state } = await openWork({ max_attempts: 1 });
  const lease = await claim();
  await expireLeases(service, worker);
  expect(await inbox.leases()).toEqual([]);
  expect(await state()).toEqual(['submitted', 3]);
  expect((await inbox.remove(lease.event.id)).status).toBe(204);
  expect(await state()).toEqual(['failed', 4]);
});

test('a claim skips the messages of a canceled task, and the next item of the thread is ready', async () => {
  const { client, worker, inbox, id, thread_id, claim } = await openWork();
  await send(client, thread_id, { content: 'next' });
  await inbox.release((await claim()).id);
  await service.post(worker, `/threads/${thread_id}/read`, { up_to_sequence: 1 });
  expect((await cancel(client, id)).body.delivery).toBe('read');
  const next = await claim();
  expect(next.event.data.content).toBe('next');
  await inbox.acknowledge(next.id);
  expect((await read(client, id)).delivery).toBe('read');
});

test('an item whose task was removed is claimed again, and does not hold its thread', async () => {
  const { worker, id, claim } = await openWork();
  await claim();
  await expireLeases(service, worker);
  // As after TASK_DAYS, or the erasure of the client.
  await service.sql('delete from tasks where id = $1', [id]);
  expect(await claim()).toMatchObject({ attempt: 2, event: { data: { content: 'When does it arrive?' } } });
});

test('no item of a canceled task is claimed, also when the task was removed', async () => {
  const { client, worker, inbox, id, claim } = await openWork();
  await claim();
  await expireLeases(service, worker);
  await cancel(client, id);
  await service.sql('update tasks set expires_at = 0 where id = $1', [id]);
  expect(await service.core.db.tasks.removeExpired(1, 100)).toBe(1);
  expect(await inbox.leases()).toEqual([]);
});

test('an agent that is retired fails the tasks that it was given, and cancels its own', async () => {
  const [ann, bob] = await pair();
  const received = await openTask(ann, bob);
  const own = await openTask(bob, ann);
  expect((await manage('delete', bob)).status).toBe(204);
  expect((await stateOf(ann, received.id))[0]).toBe('failed');
  expect((await stateOf(ann, own.id))[0]).toBe('canceled');
});

test('the client of a task does not begin it when an instance of its own claims a message of it', async () => {
  const { client, worker, inbox, id, claim, state } = await openWork();
  const clientInbox = inboxOf(service.api, client);
  await clientInbox.turnOn();
  const lease = await claim();
  await report(worker, id, { state: 'working', message: 'Half done.' });
  await service.sql('update tasks set lease_token = $2 where id = $1', [id, lease.fencing_token]);
  await inbox.release(lease.id);
  expect((await state())[0]).toBe('submitted');
  expect(await clientInbox.leases()).toHaveLength(1);
  expect((await state())[0]).toBe('submitted');
});

test('an agent that says working after a claim keeps it working without the lease', async () => {
  const { worker, inbox, id, claim, state } = await openWork();
  const lease = await claim();
  expect((await report(worker, id, { state: 'working' })).body.generation).toBe(3);
  expect((await report(worker, id, { state: 'working' })).body.generation).toBe(3);
  await inbox.release(lease.id);
  expect(await state()).toEqual(['working', 3]);
});

test('a leased item that leaves with the feed makes its task submitted again', async () => {
  const { worker, claim, state } = await openWork();
  await claim();
  await service.write((work) => expireItems(work, worker.id, Date.now() + 1_000));
  expect(await state()).toEqual(['submitted', 3]);
});

test('a dead item that expires fails its task', async () => {
  const { worker, inbox, claim, state } = await openWork({ max_attempts: 1 });
  await inbox.release((await claim()).id);
  expect((await state())[0]).toBe('submitted');
  await service.write((work) => expireItems(work, worker.id, Date.now() + 1_000));
  expect((await state())[0]).toBe('failed');
});
