import { describe, expect, test } from 'vitest';
import { bindings } from '../../clients/a2a.ts';
import type { Fault, RemoteServer } from '../../support/a2a/remote-server.ts';
import { fastPacing, waitUntil } from '../webhooks/setup.ts';
import type { TestAgent } from '../../support/service.ts';
import { type AddedRemote, meetRemote, storyOf, useInstallation } from './setup.ts';

/** Webhooks have one attempt: agents of other systems have a schedule of their own. */
const service = useInstallation({ pacing: { scheduleMs: [0] } });

/** When the thread is attempted again, in milliseconds from now. */
async function readDelay(thread_id: string): Promise<number> {
  const text = 'select next_at::float8 as at from remote_threads where thread_id = $1 and attempts > 0';
  const [row] = await service.sql<{ at: number }>(text, [thread_id]);
  return (row?.at ?? 0) - Date.now();
}

/** Has what waits for a remote agent sent again, and waits until a worker knows. */
async function recall(by: TestAgent, { id }: AddedRemote, server: RemoteServer): Promise<void> {
  const before = server.cardRequests();
  expect((await service.post(by, `/remote-agents/${id}/refresh`)).status).toBe(200);
  await waitUntil(() => server.cardRequests()).toBeGreaterThan(before);
}

describe.each(bindings)('over %s', (binding) => {
  const meet = () => meetRemote(service, { binding });

  const passing: { name: string; fault: Fault }[] = [
    { name: '500', fault: { status: 500 } },
    { name: '503', fault: { status: 503 } },
    { name: '429 with Retry-After', fault: { status: 429, headers: { 'Retry-After': '1' } } },
  ];
  test.each(passing)(
    'a message is sent again after $name, and the next one waits for it',
    async ({ fault }) => {
      const { server, ann, remote } = await meet();
      const thread_id = await service.thread(ann, remote);
      server.failNext('SendMessage', fault, 2);
      await service.send(ann, thread_id, 'silent one');
      await service.send(ann, thread_id, 'silent two');
      await waitUntil(() => server.texts()).toEqual(['silent one', 'silent one', 'silent one', 'silent two']);
      const ids = server.callsOf('SendMessage').map(({ params }) => params.message.messageId);
      expect(new Set(ids).size).toBe(2);
    },
  );

  test('Retry-After is obeyed, up to a quarter of an hour', async () => {
    const { server, ann, remote } = await meet();
    server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '1800' } });
    const { thread_id, task_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(() => readDelay(thread_id)).toBeGreaterThan(800_000);
    expect(await readDelay(thread_id)).toBeLessThanOrEqual(900_000);
    expect(server.texts()).toEqual(['When?']);
    await service.pass(thread_id);
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  });

  test('after the last attempt, the sender gets an event, the task fails, and the next message is sent', async () => {
    const { server, ann, remote } = await meet();
    const events = await service.follow(ann, 'message.undeliverable');
    server.failNext('SendMessage', { status: 500 }, 3);
    const { thread_id, task_id, message_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('failed');
    expect(await events()).toMatchObject([
      { thread_id, message_id, sequence: 1, agent: { id: remote.id }, outcome: 'undeliverable' },
    ]);
    await service.send(ann, thread_id, 'Hello?');
    await waitUntil(() => server.texts()).toEqual(['When?', 'When?', 'When?', 'Hello?']);
    const failed = await service.readRemote(ann, remote.id);
    expect(failed.state).toBe('ready');
  });

  test('a refusal that will not change ends a message at once, with the error of the other side', async () => {
    const { server, ann, remote } = await meet();
    const events = await service.follow(ann, 'message.undeliverable');
    const message = 'The message has a part that is not understood.';
    const info = {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'INVALID_PARAMS',
      domain: 'a2a-protocol.org',
    };
    const error =
      binding === 'JSONRPC'
        ? { code: -32_602, message, data: [info] }
        : { code: 400, status: 'INVALID_ARGUMENT', message, details: [info] };
    const status = binding === 'JSONRPC' ? 200 : 400;
    // Without the address for callbacks it is tried once more.
    server.failNext('SendMessage', { status, body: { error } }, 2);
    const { message_id, task_id, thread_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('failed');
    expect(server.texts().length).toBeLessThanOrEqual(2);
    expect(await events()).toMatchObject([
      { message_id, outcome: 'undeliverable', error: { message: expect.stringContaining(message) } },
    ]);
    expect(await service.marks(ann, thread_id, remote)).toEqual({ delivered: 0, read: 0, handled: 0 });
  });

  test('a request that was lost is not repeated, because the other side may have got it', async () => {
    const { server, ann, remote } = await meet();
    const events = await service.follow(ann, 'message.undeliverable');
    server.failNext('SendMessage', 'lost');
    const { message_id, task_id, thread_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(events).toMatchObject([{ message_id, outcome: 'unknown' }]);
    expect(server.callsOf('ListTasks').length).toBeGreaterThan(0);
    expect(server.texts()).toEqual(['When?']);
    expect((await service.readTask(ann, task_id)).state).not.toBe('completed');
    await service.send(ann, thread_id, 'silent');
    await waitUntil(() => server.texts()).toEqual(['When?', 'silent']);
  });

  test('a request whose answer was lost is found in the tasks of the other side', async () => {
    const { server, ann, remote } = await meet();
    const events = await service.follow(ann, 'message.undeliverable');
    server.failNext('SendMessage', 'unanswered');
    const { task_id, thread_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
      'here: When?',
      'there: Done: When?',
    ]);
    expect(server.callsOf('ListTasks')[0]?.params).toMatchObject({ historyLength: expect.anything() });
    expect(server.texts()).toEqual(['When?']);
    expect(await events()).toEqual([]);
  });

  test('the tasks of the other side are looked at until it answers', async () => {
    const { server, ann, remote } = await meet();
    server.failNext('SendMessage', 'unanswered');
    server.failNext('ListTasks', { status: 503 });
    const { task_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    expect(server.texts()).toEqual(['When?']);
  });

  async function recallDuringAttempt({ server, ann, remote }: Awaited<ReturnType<typeof meet>>) {
    const release = server.hold();
    const { task_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(() => server.texts()).toEqual(['When?']);
    await recall(ann, remote, server);
    release();
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  }

  test('a thread that is recalled during an attempt is not attempted beside it', async () => {
    const met = await meet();
    const events = await service.follow(met.ann, 'message.undeliverable');
    await recallDuringAttempt(met);
    expect(met.server.texts()).toEqual(['When?']);
    expect(met.server.callsOf('ListTasks')).toEqual([]);
    expect(await events()).toEqual([]);
  });

  test('a thread that is recalled during an attempt that fails is attempted again at once', async () => {
    const met = await meet();
    met.server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '3600' } });
    await recallDuringAttempt(met);
    expect(met.server.texts()).toEqual(['When?', 'When?']);
  });

  test('an answer that was not read yet does not leave the other messages behind', async () => {
    const { server, ann, remote } = await meet();
    server.failNext('GetTask', { status: 500 }, 2);
    const { task_id, thread_id } = await service.ask(ann, remote, 'When?');
    await service.send(ann, thread_id, 'silent');
    await waitUntil(async () => {
      await service.pass(thread_id);
      return (await service.readTask(ann, task_id)).state;
    }).toBe('completed');
    await waitUntil(() => server.texts()).toEqual(['When?', 'silent']);
  });
});

test('a task is read again within a quarter of an hour, however long the other side asks to wait', async () => {
  const { server, ann, remote } = await meetRemote(service, { hasPush: false });
  server.failNext('GetTask', { status: 503, headers: { 'Retry-After': '9'.repeat(20) } }, 1_000);
  const { thread_id } = await service.ask(ann, remote, 'silent');
  await waitUntil(async () => {
    await service.pass(thread_id);
    return server.callsOf('GetTask').length;
  }).toBeGreaterThan(0);
  const delay = 'select poll_at::float8 - $2 as ms from remote_tasks where thread_id = $1';
  const readMs = async () => (await service.sql<{ ms: number }>(delay, [thread_id, Date.now()]))[0]?.ms;
  await waitUntil(readMs).toBeGreaterThan(800_000);
  expect(await readMs()).toBeLessThanOrEqual(900_000);
});

test('a task that has ended in between opens a new one', async () => {
  const { server, ann, remote } = await meetRemote(service, { hasPush: false });
  const { thread_id, task_id } = await service.ask(ann, remote, 'ask me');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('input_required');
  await server.cancelTask(server.agent.turnsOf('ask me')[0]?.taskId ?? '');
  await service.send(ann, thread_id, 'The red one.');
  await waitUntil(async () => {
    await service.pass(thread_id);
    return storyOf(await service.messages(ann, thread_id), ann);
  }).toContain('there: Done: The red one.');
  const tasks = server.callsOf('SendMessage').map(({ params }) => params.message.taskId);
  expect(tasks.at(-1)).toBeUndefined();
});

test('nothing listens at the address: the message is sent when it does', async () => {
  const { server, ann, remote } = await meetRemote(service);
  server.failNext('*', { status: 503 });
  const { task_id } = await service.ask(ann, remote, 'When?');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  const record = await service.readRemote(ann, remote.id);
  expect(record).toMatchObject({ last_error: null, failing_since: null });
  expect(record.last_delivered_at).toEqual(expect.any(Number));
});

test('a recall ends a pause that a process of the previous release has begun', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const thread_id = await service.thread(ann, remote);
  await service.holdThread(thread_id);
  await service.sql(`update remote_threads set lease_state = 'claimed' where thread_id = $1`, [thread_id]);
  await service.send(ann, thread_id, 'silent');
  await recall(ann, remote, server);
  await waitUntil(() => server.texts()).toEqual(['silent']);
});

test('an internal error of JSON-RPC is no refusal', async () => {
  const { server, ann, remote } = await meetRemote(service);
  server.failNext('SendMessage', {
    status: 200,
    body: { error: { code: -32_603, message: 'Out of order.' } },
  });
  const { task_id } = await service.ask(ann, remote, 'When?');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  expect(server.texts()).toEqual(['When?', 'When?']);
});

describe('client credentials', () => {
  const credential = { kind: 'client_credentials', client_id: 'ann', client_secret: 'a secret' };

  test('are renewed once after 401', async () => {
    const { server, ann, remote } = await meetRemote(service, { credential });
    const first = await service.ask(ann, remote, 'One?');
    await waitUntil(async () => (await service.readTask(ann, first.task_id)).state).toBe('completed');
    const { authorization } = server.callsOf('SendMessage')[0]?.headers ?? {};
    expect(authorization).toBe('Bearer token-1');
    server.requireToken('another one');
    const second = await service.ask(ann, first, 'Two?');
    await waitUntil(async () => (await service.readTask(ann, second.task_id)).state).toBe('completed');
    expect(server.tokenRequests()).toBe(2);
    // A read of the first task can have renewed it before the second message.
    const used = server.callsOf('SendMessage').map(({ headers }) => headers.authorization);
    expect(used.length).toBeLessThanOrEqual(3);
    expect([...new Set(used)]).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  test('that do not help end the message', async () => {
    const { server, ann, remote } = await meetRemote(service, { credential });
    const events = await service.follow(ann, 'message.undeliverable');
    server.failNext('SendMessage', { status: 401 }, 20);
    const { task_id, message_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('failed');
    expect(await events()).toMatchObject([{ message_id, outcome: 'undeliverable' }]);
    // One for the first attempt, and another one for each refusal.
    expect(server.tokenRequests()).toBe(1 + fastPacing.remoteScheduleMs.length);
  });

  test('without a token nothing was sent, so the message is sent later', async () => {
    const { server, ann, remote } = await meetRemote(service, { credential });
    server.failNext('token', 'lost');
    const { task_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    expect(server.texts()).toEqual(['When?']);
    expect(server.callsOf('ListTasks')).toEqual([]);
  });

  test('that cannot be read are named, and nothing is lost', async () => {
    const { server, ann, remote } = await meetRemote(service, { credential });
    await service.sql(`update remote_agents set credential = '\\x00' where agent_id = $1`, [remote.id]);
    const { task_id, thread_id } = await service.ask(ann, remote, 'When?');
    const lastError = async () => (await service.readRemote(ann, remote.id)).last_error;
    await waitUntil(lastError).toContain('Set the credential again');
    expect(server.texts()).toEqual([]);
    await service.patch(ann, `/remote-agents/${remote.id}`, { credential });
    await service.pass(thread_id);
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  });

  test('a bearer token is sent as it is, and never returned', async () => {
    const token = 'a-token-of-the-other-side';
    const { server, ann, remote } = await meetRemote(service, { credential: { kind: 'bearer', token } });
    server.requireToken(token);
    const { task_id } = await service.ask(ann, remote, 'When?');
    await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
    expect(JSON.stringify(await service.readRemote(ann, remote.id))).not.toContain(token);
    const [row] = await service.sql<{ credential: Buffer }>(
      'select credential from remote_agents where agent_id = $1',
      [remote.id],
    );
    expect(row?.credential.toString('latin1')).not.toContain(token);
  });
});
