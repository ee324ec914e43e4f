import { connectTo } from '../../support/servers/postgres/database.ts';
import { expect, test } from 'vitest';
import { defaultPacing } from '../../../packages/core/src/domain/webhooks.ts';
import { remoteDelivery } from '../../../src/jobs/posting.ts';
import { openIntake } from '../../../src/start/execute.ts';
import { type Claim, postingHandler } from '../../../workers/posting/handler.ts';
import { remoteThreadSource } from '../../../workers/remote/deliver.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { meetRemote, storyOf, useInstallation } from './setup.ts';

const service = useInstallation();

/** Two more workers of the service. */
function startHandlers() {
  return [1, 2].map(() => {
    const source = remoteThreadSource(service.core, openIntake(service.core), defaultPacing);
    return postingHandler(service.core, remoteDelivery, [source], defaultPacing);
  });
}

test('repeated and simultaneous jobs send each message once, and apply each answer once', async () => {
  const { server, ann, remote } = await meetRemote(service, { hasPush: false });
  const handlers = startHandlers();
  const thread_id = await service.thread(ann, remote);
  const texts = Array.from({ length: 8 }, (_, index) =>
    index % 2 === 0 ? `Question ${index}` : `direct ${index}`,
  );
  for (const content of texts) {
    await service.send(ann, thread_id, content);
    await Promise.all(handlers.map(({ handle }) => handle({ subscription_id: thread_id })));
  }
  await waitUntil(async () => {
    await service.pass(thread_id);
    await Promise.all(handlers.map(({ handle }) => handle({ subscription_id: thread_id })));
    return (await service.messages(ann, thread_id)).length;
  }).toBe(2 * texts.length);
  for (const { handle } of [...handlers, ...handlers]) {
    await service.pass(thread_id);
    await handle({ subscription_id: thread_id });
  }
  expect(server.texts()).toEqual(texts);
  const answers = storyOf(await service.messages(ann, thread_id), ann).filter((line) =>
    line.startsWith('there'),
  );
  expect(answers.sort()).toEqual(texts.map((text) => `there: Done: ${text}`).sort());
});

test('callbacks that come many times at once apply an answer once', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const { thread_id, task_id } = await service.ask(ann, remote, 'wait');
  await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
  const url: string = server.callsOf('SendMessage')[0]?.params.configuration.taskPushNotificationConfig.url;
  const [turn] = server.agent.turnsOf('wait');
  turn?.addArtifact([{ text: 'one' }]);
  turn?.addArtifact([{ text: 'two' }]);
  turn?.complete('later');
  const handlers = startHandlers();
  await Promise.all([
    ...Array.from({ length: 20 }, () => fetch(url, { method: 'POST', body: '{}' })),
    ...handlers.map(({ handle }) => handle({ subscription_id: thread_id })),
  ]);
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  await service.pass(thread_id);
  expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
    'here: wait',
    'there: one',
    'there: two',
    'there: Done: later',
  ]);
});

test('a turn that was cut off after the send is continued: the message is found, and not sent again', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const thread_id = await service.thread(ann, remote);
  const { id, sequence } = await service.send(ann, thread_id, 'silent');
  await waitUntil(async () => (await service.marks(ann, thread_id, remote)).delivered).toBe(sequence);
  const released =
    'select 1 from remote_threads where thread_id = $1 and position = $2 and next_at <= $3::bigint';
  await waitUntil(async () => (await service.sql(released, [thread_id, sequence, Date.now()])).length).toBe(
    1,
  );
  // As if the worker had died before it stored the answer.
  await service.sql('delete from remote_tasks where thread_id = $1', [thread_id]);
  await service.sql('delete from remote_messages where thread_id = $1', [thread_id]);
  await service.sql(
    'update remote_threads set position = 0, begun_id = $2, attempts = 1 where thread_id = $1',
    [thread_id, id],
  );
  await service.pass(thread_id);
  const linked = async () =>
    (await service.sql('select 1 from remote_tasks where thread_id = $1', [thread_id])).length;
  await waitUntil(linked).toBe(1);
  expect(server.texts()).toEqual(['silent']);
});

/** A thread with an open task of the remote side, and the turns that tests claim of it. */
async function openTurns() {
  const { server, ann, remote } = await meetRemote(service);
  const { thread_id } = await service.ask(ann, remote, 'wait');
  const released =
    'select 1 from remote_threads where thread_id = $1 and position = 1 and next_at <= $2::bigint';
  await waitUntil(async () => (await service.sql(released, [thread_id, Date.now()])).length).toBe(1);
  const source = remoteThreadSource(service.core, openIntake(service.core), defaultPacing);
  /** As after a person has what waits sent again. The worker can be faster. */
  async function claim(): Promise<Claim> {
    await service.sql('update remote_tasks set poll_at = 0 where thread_id = $1', [thread_id]);
    await service.sql('update remote_threads set poll_at = 0, next_at = 0 where thread_id = $1', [thread_id]);
    return (await source.claim(thread_id)) ?? claim();
  }
  return { server, thread_id, claim, end: Date.now() + defaultPacing.turnMs };
}

test('two turns of one thread in one process: the one that has it continues, and the other one ends', async () => {
  const { server, claim, end } = await openTurns();
  server.failNext('GetTask', { status: 500 }, 2);
  const [old, current] = [await claim(), await claim()];
  expect(await Promise.all([old.next(end), current.next(end)])).toEqual(['ended', 'idle']);
});

test('a callback that comes while the turn of its thread ends is not lost', async () => {
  const { thread_id, claim, end } = await openTurns();
  const turn = await claim();
  await turn.next(end);
  const callback = await connectTo(service.core.config.DATABASE_URL);
  await callback.query('begin');
  for (const table of ['remote_threads', 'remote_tasks'])
    await callback.query(`update ${table} set poll_at = 1 where thread_id = $1`, [thread_id]);
  const released = turn.release(Date.now());
  const waiting = 'select 1 from pg_locks where not granted';
  await waitUntil(async () => (await service.sql(waiting)).length).toBeGreaterThan(0);
  await callback.query('commit');
  await released;
  expect(await turn.isDue()).toBe(true);
});
