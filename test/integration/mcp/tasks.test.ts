import { expect, test } from 'vitest';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { askStateless, listenStateless } from '../../clients/mcp/stateless-request.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { stopAfterTest, use } from '../../support/use.ts';
import { startMcpInstance } from './instance.ts';

const database = use(createTestDatabase);
const instance = use(() => startMcpInstance(database.url));

const extension = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const withForms = { ...extension, elicitation: { form: {} } };

/** An asker and a worker of another owner, with their tools. */
async function pair(name: string) {
  const [asker, worker] = [`${name}ask.one`, `${name}work.one`];
  const tokens = { asker: await instance.token(asker), worker: await instance.token(worker) };
  const tools = (token: string) => async (tool: string, args: object) => {
    const { value, isError } = await callToolRaw(instance.url, token, tool, args);
    return { ...value, isError };
  };
  return { asker, worker, tokens, ask: tools(tokens.asker), work: tools(tokens.worker) };
}

// The tests say what they expect of it.
// oxlint-disable-next-line typescript/no-explicit-any
type Fields = Record<string, any>;

const messageOf = ({ error }: Fields): string => error.message;

test('a model asks, is asked back, follows the task to its result, and cancels another one', async () => {
  const { asker, worker, ask, work } = await pair('plain');
  const question = { with_handle: worker, content: 'When?', due_in_seconds: 600, wait_seconds: 0 };
  const first: Fields = await ask('ask', question);
  expect(first).toMatchObject({
    reply: null,
    task: { state: 'submitted', generation: 1, overdue: false, due_at_text: expect.stringMatching(/Z$/) },
  });
  const task_id = first['task'].id;

  const { tasks }: Fields = await work('list_tasks', { role: 'asked', state: 'open' });
  expect(tasks).toMatchObject([{ id: task_id, client: { canonical_handle: asker } }]);
  const back = { task_id, state: 'input_required', message: 'Which order?' };
  expect(await work('update_task', back)).toMatchObject({ state: 'input_required', generation: 2 });
  expect(await ask('wait_for_reply', { task_id, wait_seconds: 0 })).toMatchObject({
    reply: { content: 'Which order?' },
    task: { id: task_id, state: 'input_required' },
  });
  await ask('send_message', { thread_id: first['message'].thread_id, content: '1042' });
  const waiting = ask('get_task', { task_id, after_generation: 3, wait_seconds: 20 });
  await work('update_task', { task_id, state: 'completed', data: '{ "day": "Friday" }' });
  const { messages, ...ended }: Fields = await waiting;
  expect(ended).toMatchObject({ state: 'completed', due_at_text: expect.stringMatching(/Z$/) });
  expect(messages.at(-1)).toMatchObject({ artifact: true, data: { day: 'Friday' } });

  const other: Fields = await ask('ask', { ...question, content: 'Where?' });
  expect(await ask('cancel_task', { task_id: other['task'].id })).toMatchObject({ state: 'canceled' });
  const late = await work('update_task', { task_id: other['task'].id, state: 'working' });
  expect(late).toMatchObject({ isError: true, error: { code: 'INVALID_TRANSITION' } });
  expect(messageOf(late)).toBe(
    'This task has ended: it is canceled. To say more, call send_message in its thread.',
  );
  expect(messageOf(await ask('cancel_task', { task_id }))).toBe(
    'This task has ended: it is completed. Call get_task to read its state.',
  );
});

test('a message that asks is shown with who waits, since when and until when, while its task is open', async () => {
  const { asker, worker, ask, work } = await pair('note');
  const question = { with_handle: worker, content: 'When?', due_in_seconds: 600, wait_seconds: 0 };
  const first: Fields = await ask('ask', question);
  const { thread_id } = first['message'];
  await ask('send_message', { thread_id, content: 'By the way.' });
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
  const note = expect.stringMatching(
    new RegExp(
      `^${asker} waits for your answer since ${time} and wants it until ${time}\\. A reply completes`,
    ),
  );
  const notesOf = (messages: Fields[]) => messages.map(({ task_note }) => task_note);
  const read = async (by: typeof work) =>
    notesOf(((await by('get_thread', { thread_id })) as Fields)['messages']);
  const { events }: Fields = await work('wait_for_events', { types: ['message.created'], wait_seconds: 0 });
  expect(notesOf(events)).toEqual([note, undefined]);
  expect(await read(work)).toEqual([note, undefined]);
  expect(await read(ask)).toEqual([undefined, undefined]);
  const { leases }: Fields = await work('claim_messages', { wait_seconds: 0 });
  expect(notesOf(leases)).toEqual([note]);
  await work('acknowledge_message', { lease_id: leases[0].lease_id, reply: 'Tomorrow.' });
  expect(await read(work)).toEqual([undefined, undefined, undefined]);
});

/** A question of a client of revision 2026-07-28 that supports tasks. */
async function startTask(name: string, capabilities: object = extension, at = instance) {
  const agents = await pair(name);
  const send = async (method: string, params: Fields, by = agents.tokens.asker, url = instance.url) =>
    askStateless(url, by, { method, params, capabilities });
  const call = { name: 'ask', arguments: { with_handle: agents.worker, content: 'When?' } };
  const { result } = await send('tools/call', call, agents.tokens.asker, at.url);
  expect(result).toMatchObject({
    resultType: 'task',
    status: 'working',
    taskId: expect.stringMatching(/^tsk_/),
    statusMessage: `@${agents.worker} has not begun.`,
  });
  const taskId = String(result?.['taskId']);
  const read = async (): Promise<Fields> => (await send('tasks/get', { taskId })).result ?? {};
  const report = (fields: object) => agents.work('update_task', { task_id: taskId, ...fields });
  return { ...agents, taskId, send, read, report };
}

test('ask is a task, which survives the end of its process, and completes with the answer', async () => {
  const leaving = await startMcpInstance(database.url);
  const { taskId, worker, read, report } = await startTask('restart', extension, leaving);
  await leaving.close();
  expect(await read()).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
  await report({ state: 'working' });
  expect(await read()).toMatchObject({ statusMessage: `@${worker} is working on it.` });
  await report({ state: 'completed', message: 'Tomorrow.' });
  const done = await read();
  expect(done).toMatchObject({
    status: 'completed',
    result: {
      structuredContent: {
        message: { sequence: 1, created_at_text: expect.stringMatching(/Z$/) },
        reply: { content: 'Tomorrow.', relationship: 'none' },
        task: { id: taskId, state: 'completed' },
        after_sequence: 1,
      },
    },
  });
  expect(JSON.parse(done['result'].content[0].text)).toEqual(done['result'].structuredContent);
});

test('an answer that arrives while the call waits is its result', async () => {
  const { ask, worker, work, tokens } = await pair('quick');
  const first: Fields = await ask('ask', { with_handle: worker, content: 'One?', wait_seconds: 0 });
  const { thread_id } = first['message'];
  const asking = askStateless(instance.url, tokens.asker, {
    method: 'tools/call',
    params: { name: 'ask', arguments: { thread_id, content: 'Two?', wait_seconds: 25 } },
    capabilities: extension,
  });
  const { reply }: Fields = await work('wait_for_reply', { thread_id, after_sequence: 1 });
  await work('send_message', { thread_id, content: 'Yes.', reply_to: reply.id });
  expect((await asking).result).toMatchObject({
    resultType: 'complete',
    structuredContent: { reply: { content: 'Yes.' }, task: { state: 'completed' } },
  });
});

test('a question to a whole group opens no task, and waits for any reply', async () => {
  const { worker, work, ask, tokens } = await pair('group');
  await instance.token('groupother.one');
  const participants = [worker, 'groupother.one'];
  const { id: thread_id }: Fields = await ask('create_thread', { participants });
  const asking = askStateless(instance.url, tokens.asker, {
    method: 'tools/call',
    params: { name: 'ask', arguments: { thread_id, content: 'Who?' } },
    capabilities: extension,
  });
  await work('wait_for_reply', { thread_id, after_sequence: 0 });
  await work('send_message', { thread_id, content: 'I do.' });
  expect((await asking).result).toMatchObject({
    resultType: 'complete',
    structuredContent: { reply: { content: 'I do.' }, task: null },
  });
});

test('a client with forms is asked what the agent asks back, and its answer is sent once', async () => {
  const { taskId, worker, send, read, report, ask } = await startTask('form', withForms);
  await report({ state: 'input_required', message: 'Which *order*?' });
  const waiting = await read();
  const [key = ''] = Object.keys(waiting['inputRequests']);
  expect(waiting).toMatchObject({
    status: 'input_required',
    inputRequests: {
      [key]: { method: 'elicitation/create', params: { message: `@${worker} asks: "Which ∗order∗?"` } },
    },
  });
  const answer = (response: unknown) =>
    send('tasks/update', { taskId, inputResponses: { [key]: response, other: response } });
  for (const ignored of [7, { action: 'decline' }, { action: 'accept', content: { answer: ' ' } }])
    expect((await answer(ignored)).result).toMatchObject({ resultType: 'complete' });
  expect(await read()).toMatchObject({ status: 'input_required' });
  for (let turn = 0; turn < 2; turn += 1) await answer({ action: 'accept', content: { answer: '1042' } });
  expect(await read()).toMatchObject({ status: 'working' });
  const { messages }: Fields = await ask('get_task', { task_id: taskId });
  expect(messages.map(({ content }: Fields) => content)).toEqual(['When?', 'Which *order*?', '1042']);
});

test('without forms the status says how to answer; a refusal fails the task with its reason', async () => {
  const { read, report } = await startTask('hint');
  await report({ state: 'auth_required', message: 'Sign in first.' });
  const waiting = await read();
  expect(waiting).toMatchObject({
    status: 'working',
    statusMessage: expect.stringMatching(
      /needs authorization: "Sign in first\." Answer with send_message and reply_to msg_/,
    ),
  });
  await report({ state: 'rejected', message: 'I cannot.' });
  expect(await read()).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('rejected: I cannot.') },
  });
});

test('tasks/cancel cancels the question, and only its client follows it', async () => {
  const { taskId, send, read, ask, tokens } = await startTask('cancel');
  const unknown = { code: -32_602, message: 'Unknown task: it does not exist or has expired.' };
  const reading = await instance.token('cancelask.one', { scopes: ['contacts:read'] });
  for (const token of [tokens.worker, await instance.token('stranger.one'), reading])
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect((await send(method, { taskId, inputResponses: {} }, token)).error).toEqual(unknown);
  for (let turn = 0; turn < 2; turn += 1)
    expect((await send('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
  expect(await read()).toMatchObject({ status: 'cancelled' });
  expect(await ask('get_task', { task_id: taskId })).toMatchObject({ state: 'canceled', generation: 2 });
});

test('a listener gets each change of its task', async () => {
  const { taskId, tokens, report } = await startTask('listen');
  const stream = stopAfterTest(
    await listenStateless(instance.url, tokens.asker, { taskIds: [taskId] }, 'l', extension),
  );
  const messages = async (count: number) =>
    (await stream.events(count)).map(({ data }) => JSON.parse(data).params);
  expect(await messages(1)).toMatchObject([{ notifications: { taskIds: [taskId] } }]);
  await report({ state: 'working' });
  expect((await messages(2))[1]).toMatchObject({ taskId, status: 'working' });
  await report({ state: 'completed', message: 'Tomorrow.' });
  expect((await messages(3)).at(-1)).toMatchObject({ taskId, status: 'completed' });
});
