import { expect, test } from 'vitest';
import { maintenanceTasks } from '../../../src/jobs/maintenance.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { followFeed } from '../../clients/feed.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { useService } from '../../support/service.ts';
import { expireLeases, inboxOf } from '../inbox/setup.ts';
import { changesIn, tasksOf } from './setup.ts';

const service = useService({ worker: false });
const { pair, openTask, read, stateOf, send, report } = tasksOf(service);

const sweep = () => maintenanceHandler(service.core).handle({ task: 'sweep-tasks' });
/** Moves a time of a task into the past, by a day. */
const passDay = (column: 'due_at' | 'expires_at', id: string) =>
  service.sql(`update tasks set ${column} = $2 where id = $1`, [id, Date.now() - 86_400_000]);

test('an agent that sleeps for a day: submitted, then overdue, then completed', async () => {
  const [ann, bob] = await pair();
  const { id, thread_id } = await openTask(ann, bob, { due_in_seconds: 3_600 });
  const events = await followFeed(service.api, ann.token);
  await sweep();
  expect(await read(ann, id)).toMatchObject({ state: 'submitted', generation: 1, overdue: false });
  await passDay('due_at', id);
  await sweep();
  await sweep();
  expect(await read(bob, id)).toMatchObject({ state: 'submitted', generation: 2, overdue: true });
  const { body } = await service.get(ann, '/tasks?overdue=true');
  expect(body.tasks).toMatchObject([{ id }]);
  await send(bob, thread_id, { content: 'Good morning.' });
  expect(await read(ann, id)).toMatchObject({ state: 'completed', generation: 4, overdue: true });
  expect((await service.get(ann, '/tasks?overdue=true')).body.tasks).toEqual([]);
  expect(changesIn(await events())).toEqual([
    ['overdue', 'submitted', 2],
    ['result', 'submitted', 3],
    ['state', 'completed', 4],
  ]);
});

test('a task without a change fails, and is removed so long after its end; its messages stay', async () => {
  const [ann, bob] = await pair();
  const { id, thread_id } = await openTask(ann, bob);
  await passDay('expires_at', id);
  await sweep();
  expect(await stateOf(ann, id)).toEqual(['failed', 2]);
  expect((await report(bob, id, { state: 'completed' })).status).toBe(409);
  await passDay('expires_at', id);
  await sweep();
  expect((await service.get(ann, `/tasks/${id}`)).body.error.code).toBe('TASK_NOT_FOUND');
  expect((await service.get(ann, `/threads/${thread_id}/messages`)).body.messages).toHaveLength(1);
});

test('a task outlives its question: its agent reports with and without a message, and ends it', async () => {
  const [ann, bob] = await pair();
  const { id, thread_id } = await openTask(ann, bob);
  await service.sql('delete from messages where thread_id = $1', [thread_id]);
  expect((await report(bob, id, { state: 'working' })).status).toBe(200);
  const waiting = await report(bob, id, { state: 'input_required', message: 'Which day?' });
  expect([waiting.status, waiting.body.state]).toEqual([200, 'input_required']);
  const ended = await report(bob, id, { state: 'completed', message: 'Friday.' });
  expect([ended.status, ended.body.state]).toEqual([200, 'completed']);
  const { messages } = await read(ann, id);
  expect(messages.map(({ reply_to }: { reply_to: string | null }) => reply_to)).toEqual([null, null]);
});

test('when all workers of an agent are dead, the asker sees it submitted within a minute of the expiry', async () => {
  const [ann, bob] = await pair();
  const inbox = inboxOf(service.api, bob);
  await inbox.turnOn();
  const { id } = await openTask(ann, bob);
  const events = await followFeed(service.api, ann.token);
  await inbox.leases();
  expect(await stateOf(ann, id)).toEqual(['working', 2]);
  await expireLeases(service, bob);
  // No instance claims any more.
  expect(maintenanceTasks['end-leases']).toBeLessThanOrEqual(60_000);
  await maintenanceHandler(service.core).handle({ task: 'end-leases' });
  expect(await stateOf(ann, id)).toEqual(['submitted', 3]);
  expect(changesIn(await events())).toEqual([
    ['state', 'working', 2],
    ['state', 'submitted', 3],
  ]);
});

test('limits: the time of the answer, and the open tasks with one agent', async () => {
  const [ann, bob] = await pair();
  const ask = (fields: object) =>
    service.post(ann, '/tasks', { with_handle: bob.handle, content: 'x', ...fields });
  for (const due_in_seconds of [59, 30 * 86_400 + 1]) {
    const { status, body } = await ask({ due_in_seconds });
    expect([status, body.error.details[0].field]).toEqual([400, 'due_in_seconds']);
  }
  const { thread_id } = await openTask(ann, bob, { due_in_seconds: 30 * 86_400 });
  await service.sql(
    `insert into tasks select id || n, thread_id, message_id, sequence, client_id, agent_id, state, generation, due_at, overdue_at,
       accepted_output_modes, asks_person, lease_token, ended_delivery, created_at, updated_at, expires_at, ended_at
     from tasks cross join generate_series(1, 99) n where thread_id = $1`,
    [thread_id],
  );
  const refused = await ask({ thread_id });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect((await service.get(ann, `/threads/${thread_id}/messages`)).body.messages).toHaveLength(1);
});

test('a task shows when its asked agent was last connected', async () => {
  const [ann, bob] = await pair();
  const { id } = await openTask(ann, bob);
  expect((await read(ann, id)).agent_last_seen_at).toBeNull();
  const socket = await connectWebSocket(service.url, {
    token: await service.token(bob.handle, { audience: 'ws' }),
  });
  const seenAt = async () => (await read(ann, id)).agent_last_seen_at ?? 0;
  await expect.poll(seenAt).toBeGreaterThan(0);
  await socket.close();
  await expect
    .poll(async () => (await service.sql('select from presence where agent_id = $1', [bob.id])).length)
    .toBe(0);
  expect(await seenAt()).toBe(await seenAt());
  await service.sql(`update agents set visibility = 'private' where id = $1`, [bob.id]);
  expect(await seenAt()).toBeGreaterThan(0);
  await service.sql('delete from thread_members where agent_id = $1', [bob.id]);
  expect((await read(ann, id)).agent_last_seen_at).toBeNull();
});
