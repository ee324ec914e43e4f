import { expect, test } from 'vitest';
import { followFeed } from '../../clients/feed.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { changesIn, tasksOf } from './setup.ts';

const service = useSharedService();

const { pair, openTask, read, stateOf, send, report, cancel } = tasksOf(service);

test('a plain reply completes the task, and both agents get each change once', async () => {
  const [ann, bob] = await pair();
  const feeds = await Promise.all([ann, bob].map(({ token }) => followFeed(service.api, token)));
  const { id, thread_id, message_id } = await openTask(ann, bob, { due_in_seconds: 600 });
  const opened = await read(bob, id);
  expect(opened).toMatchObject({
    state: 'submitted',
    generation: 1,
    overdue: false,
    delivery: 'stored',
    client: { id: ann.id, canonical_handle: ann.handle },
    agent: { id: bob.id, canonical_handle: bob.handle },
    messages: [{ id: message_id, artifact: false, data: null }],
  });
  expect(opened.due_at - opened.created_at).toBe(600_000);

  const { body: answer } = await send(bob, thread_id, { content: 'Tomorrow.' });
  const ended = await read(ann, id);
  expect([ended.state, ended.generation]).toEqual(['completed', 3]);
  expect(
    ended.messages.map((message: { id: string; artifact: boolean }) => [message.id, message.artifact]),
  ).toEqual([
    [message_id, false],
    [answer.id, true],
  ]);
  for (const feed of feeds) {
    expect(changesIn(await feed())).toEqual([
      ['created', 'submitted', 1],
      ['result', 'submitted', 2],
      ['state', 'completed', 3],
    ]);
  }
  // Afterwards a message is an ordinary message.
  expect((await send(bob, thread_id, {})).status).toBe(201);
  expect((await send(bob, thread_id, { reply_to: message_id })).status).toBe(201);
  expect((await read(ann, id)).messages).toHaveLength(2);
});

test('the asked agent asks back, the client answers, and a result has data', async () => {
  const [ann, bob] = await pair();
  const { id, thread_id } = await openTask(ann, bob);
  expect((await report(bob, id, { state: 'working' })).body.generation).toBe(2);
  expect((await report(bob, id, { state: 'working' })).body.generation).toBe(2);
  const question = await report(bob, id, { state: 'input_required', message: 'Which order?' });
  expect([question.body.state, question.body.generation]).toEqual(['input_required', 3]);
  expect((await report(bob, id, { state: 'auth_required' })).body.error.details[0].field).toBe('message');

  await send(ann, thread_id, { content: '1042' });
  expect(await stateOf(bob, id)).toEqual(['working', 4]);
  await send(ann, thread_id, { content: 'by the way' });
  expect(await stateOf(bob, id)).toEqual(['working', 4]);
  const done = await report(bob, id, { state: 'completed', data: { day: 'Friday' } });
  expect([done.body.state, done.body.generation]).toEqual(['completed', 6]);
  const { messages } = await read(ann, id);
  expect(messages.map(({ artifact, data }: Record<string, unknown>) => [artifact, data])).toEqual([
    [false, null],
    [false, null],
    [false, null],
    [true, { day: 'Friday' }],
  ]);
  expect(messages[3].content).toContain('"day": "Friday"');
  const again = await report(bob, id, { state: 'failed' });
  expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
});

test.each(['failed', 'rejected'])('the asked agent ends it as %s, with the reason', async (state) => {
  const [ann, bob] = await pair();
  const { id } = await openTask(ann, bob);
  expect((await report(bob, id, { state, message: 'I cannot.' })).body.state).toBe(state);
  expect((await read(ann, id)).messages[1]).toMatchObject({ content: 'I cannot.', artifact: false });
});

test('only the client cancels, only the asked agent reports, and no other agent sees the task', async () => {
  const [ann, bob] = await pair();
  const cleo = await service.agent();
  const { id } = await openTask(ann, bob);
  expect((await report(ann, id, { state: 'working' })).body.error.code).toBe('FORBIDDEN');
  expect((await cancel(bob, id)).body.error.code).toBe('FORBIDDEN');
  for (const path of [`/tasks/${id}`, `/tasks/${id.slice(0, -1)}0`, '/tasks/x'])
    expect((await service.get(cleo, path)).body.error.code).toBe('TASK_NOT_FOUND');
  expect((await report(cleo, id, { state: 'working' })).body.error.code).toBe('TASK_NOT_FOUND');
  expect((await cancel(cleo, id)).body.error.code).toBe('TASK_NOT_FOUND');
  expect((await service.get(cleo, '/tasks')).body.tasks).toEqual([]);

  expect((await cancel(ann, id)).body).toMatchObject({
    state: 'canceled',
    generation: 2,
  });
  expect((await cancel(ann, id)).body).toMatchObject({
    state: 'canceled',
    generation: 2,
  });
  expect((await report(bob, id, { state: 'completed' })).status).toBe(409);
});

test('in a group a task has a named member, and only an explicit reply completes it', async () => {
  const [ann, bob] = await pair();
  const cleo = await service.agent();
  const thread_id = await service.thread(ann, bob, cleo);
  const body = { thread_id, content: 'Bob?' };
  expect((await service.post(ann, '/tasks', body)).body.error.details[0].field).toBe('with_handle');
  const stranger = await service.agent();
  expect((await service.post(ann, '/tasks', { ...body, with_handle: stranger.handle })).body.error.code).toBe(
    'AGENT_NOT_FOUND',
  );
  const { id, message_id } = await openTask(ann, bob, { thread_id });
  await send(bob, thread_id, {});
  await send(cleo, thread_id, { reply_to: message_id });
  expect(await stateOf(ann, id)).toEqual(['submitted', 1]);
  await send(bob, thread_id, { reply_to: message_id });
  expect(await stateOf(ann, id)).toEqual(['completed', 3]);
});

test('a reply ends the oldest task, an explicit one the task that it names, and a question back none', async () => {
  const [ann, bob] = await pair();
  const first = await openTask(ann, bob);
  const { thread_id } = first;
  const second = await openTask(ann, bob, { thread_id });
  const third = await openTask(ann, bob, { thread_id });
  await send(bob, thread_id, { reply_to: second.message_id });
  expect((await stateOf(ann, second.id))[0]).toBe('completed');
  const back = await openTask(bob, ann, { thread_id });
  expect((await stateOf(ann, first.id))[0]).toBe('submitted');
  await send(bob, thread_id, {});
  expect((await stateOf(ann, first.id))[0]).toBe('completed');
  const { body: batch } = await service.post(bob, `/threads/${thread_id}/messages:batch`, {
    messages: [{ content: 'one' }, { content: 'two' }],
  });
  expect(JSON.stringify(batch)).toContain('two');
  expect((await stateOf(ann, third.id))[0]).toBe('completed');
  await send(ann, thread_id, {});
  expect((await stateOf(bob, back.id))[0]).toBe('completed');
});

test('closing, leaving and removing end the open tasks of a thread', async () => {
  const [ann, bob] = await pair();
  const cleo = await service.agent();
  const close = (by: TestAgent, thread: string) =>
    service.patch(by, `/threads/${thread}`, { status: 'closed' });
  const leave = (by: TestAgent, thread: string, member: TestAgent) =>
    service.delete(by, `/threads/${thread}/members/${member.id}`);
  const ways = [
    ['canceled', (thread: string) => close(ann, thread)],
    ['rejected', (thread: string) => close(bob, thread)],
    ['failed', (thread: string) => close(cleo, thread)],
    ['canceled', (thread: string) => leave(ann, thread, ann)],
    ['rejected', (thread: string) => leave(bob, thread, bob)],
    ['failed', (thread: string) => leave(ann, thread, bob)],
  ] as const;
  for (const [state, end] of ways) {
    const thread_id = await service.thread(ann, bob, cleo);
    const { id } = await openTask(ann, bob, { thread_id });
    expect((await end(thread_id)).status).toBeLessThan(300);
    expect(await stateOf(ann, id)).toEqual([state, 2]);
  }
});

test('lists filter by role, state and thread, newest change first, in pages', async () => {
  const [ann, bob] = await pair();
  const first = await openTask(ann, bob);
  const second = await openTask(ann, bob, { thread_id: first.thread_id });
  const back = await openTask(bob, ann);
  await send(bob, first.thread_id, { reply_to: first.message_id });
  const list = async (query: string) => {
    const { body } = await service.get(ann, `/tasks?${query}`);
    return body.tasks.map(({ id }: { id: string }) => id);
  };
  expect(await list('')).toEqual([first.id, back.id, second.id]);
  expect(await list('role=asking&state=open')).toEqual([second.id]);
  expect(await list('role=asked')).toEqual([back.id]);
  expect(await list('state=completed')).toEqual([first.id]);
  expect(await list(`thread_id=${first.thread_id}`)).toEqual([first.id, second.id]);
  expect(await list('overdue=true')).toEqual([]);
  const { body: page } = await service.get(ann, '/tasks?limit=2');
  const { body: rest } = await service.get(ann, `/tasks?limit=2&cursor=${page.next_cursor}`);
  expect([...page.tasks, ...rest.tasks].map(({ id }) => id)).toEqual([first.id, back.id, second.id]);
  expect(rest.next_cursor).toBeUndefined();
});

test('a wait for a newer generation answers with the change', async () => {
  const [ann, bob] = await pair();
  const { id, thread_id } = await openTask(ann, bob);
  const waiting = service.get(ann, `/tasks/${id}?after_generation=1&wait_seconds=20`);
  await send(bob, thread_id, { content: 'Tomorrow.' });
  expect((await waiting).body).toMatchObject({ state: 'completed', generation: 3 });
  expect((await service.get(ann, `/tasks/${id}?after_generation=3&wait_seconds=0`)).body.generation).toBe(3);
});
