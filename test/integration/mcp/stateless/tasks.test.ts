import { expect, test } from 'vitest';
import { askStateless, listenStateless, postStateless } from '../../../clients/mcp/stateless-request.ts';
import { createTestDatabase } from '../../../support/servers/postgres/database.ts';
import { createApprovalFixtures } from '../approvals/setup.ts';
import { startMcpInstance } from '../instance.ts';
import { stopAfterTest, use } from '../../../support/use.ts';

const database = use(createTestDatabase);
const first = use(() => startMcpInstance(database.url));

const { people, rows, requests } = createApprovalFixtures(() => first);

const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const withForms = { ...tasks, elicitation: { form: {} } };

/** A client that supports tasks, and the task of a call that needs approval. */
async function startTask(capabilities: object = tasks) {
  const { mine, stranger, token } = await people();
  const ask = async (method: string, params: Record<string, unknown>, at = first, by = token) =>
    askStateless(at.url, by, { method, params, capabilities });
  const { result } = await ask('tools/call', { name: 'request_contact', arguments: { handle: stranger } });
  expect(result).toMatchObject({
    resultType: 'task',
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    ttlMs: 86_400_000,
    statusMessage: expect.stringContaining('/console/approvals/apr_'),
  });
  for (const field of ['requestState', 'inputRequests', 'result', 'error'])
    expect(result).not.toHaveProperty(field);
  const taskId = String(result?.['taskId']);
  return { mine, stranger, taskId, ask, token };
}

test('an approval is a task, which survives the end of its process and of its client', async () => {
  const leaving = await startMcpInstance(database.url);
  const { mine, stranger, token } = await people();
  const call = { name: 'request_contact', arguments: { handle: stranger } };
  const begun = await askStateless(leaving.url, token, {
    method: 'tools/call',
    params: call,
    capabilities: tasks,
  });
  const taskId = String(begun.result?.['taskId']);
  await leaving.close();
  const read = async () =>
    (await askStateless(first.url, token, { method: 'tasks/get', params: { taskId }, capabilities: tasks }))
      .result;
  expect(await read()).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
  await first.decide(taskId, 'approved');
  const done = await read();
  expect(done).toMatchObject({
    status: 'completed',
    result: { structuredContent: { status: 'pending', to: { canonical_handle: stranger } } },
  });
  expect(await read()).toEqual(done);
  expect([await requests(mine), await rows(mine)]).toMatchObject([1, [{ state: 'approved', used: true }]]);
});

test('a client with forms is asked by the task and answers it once', async () => {
  const { mine, stranger, taskId, ask } = await startTask(withForms);
  const read = async () => (await ask('tasks/get', { taskId })).result;
  expect(await read()).toMatchObject({
    status: 'input_required',
    inputRequests: {
      [taskId]: {
        method: 'elicitation/create',
        params: { message: expect.stringContaining(`@${stranger}`) },
      },
    },
  });
  const answer = (inputResponses: object) => ask('tasks/update', { taskId, inputResponses });
  const yes = { action: 'accept', content: { approve: true } };
  for (const ignored of [{}, { other: yes }, { [taskId]: 7 }, { [taskId]: { action: 'cancel' } }])
    expect((await answer(ignored)).result).toMatchObject({ resultType: 'complete' });
  expect(await read()).toMatchObject({ status: 'input_required' });
  const accepted = (await answer({ [taskId]: yes })).result;
  for (const field of ['taskId', 'status', 'result']) expect(accepted).not.toHaveProperty(field);
  expect(await read()).toMatchObject({
    status: 'completed',
    result: { structuredContent: { status: 'pending' } },
  });
  await answer({ [taskId]: { action: 'decline' } });
  expect(await rows(mine)).toMatchObject([{ state: 'approved', used: true, decided_via: 'program' }]);
  expect(await requests(mine)).toBe(1);
});

test('a denied task and a cancelled one end with APPROVAL_DENIED', async () => {
  for (const end of ['deny', 'cancel'] as const) {
    const { mine, taskId, ask } = await startTask();
    if (end === 'deny') await first.decide(taskId, 'denied');
    else expect((await ask('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({
      status: 'completed',
      result: { isError: true, content: [{ text: expect.stringContaining('APPROVAL_DENIED') }] },
    });
    expect((await ask('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
    expect(await requests(mine)).toBe(0);
  }
});

test('a task that no person decides is cancelled when its approval expires', async () => {
  const { taskId, ask } = await startTask();
  await first.query('update approvals set expires_at = 1 where id = $1', [taskId]);
  expect((await ask('tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled' });
});

test('a task of another agent, of a token without the scope and one that does not exist look alike', async () => {
  const { mine, taskId, ask } = await startTask(withForms);
  const { token: foreign } = await people();
  const reading = await first.token(mine, { scopes: ['threads:read'] });
  const absent = 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const response = { [taskId]: { action: 'accept', content: { approve: true } } };
  const attempts = [
    { id: taskId, by: foreign },
    { id: taskId, by: reading },
    { id: absent, by: foreign },
    { id: 'x'.repeat(900), by: foreign },
  ];
  for (const { id, by } of attempts)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await ask(method, { taskId: id, inputResponses: response }, first, by);
      expect(error).toEqual({ code: -32_602, message: 'Unknown task: it does not exist or has expired.' });
    }
  expect(await rows(mine)).toMatchObject([{ state: 'pending' }]);
});

test('tasks need the capability in each request', async () => {
  const { taskId, stranger, token } = await startTask();
  const missing = {
    status: 400,
    json: { error: { code: -32_021, data: { requiredCapabilities: tasks } } },
  };
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    expect(
      await postStateless(first.url, token, { method, params: { taskId, inputResponses: {} } }),
    ).toMatchObject(missing);
  const listen = { method: 'subscriptions/listen', params: { notifications: { taskIds: [taskId] } } };
  expect(await postStateless(first.url, token, listen)).toMatchObject(missing);
  const params = { name: 'request_contact', arguments: { handle: stranger } };
  const { result } = await askStateless(first.url, token, { method: 'tools/call', params });
  expect(result).toMatchObject({ resultType: 'complete', isError: true });
});

test('a listener gets the end of its own tasks, also of one that ended before', async () => {
  const own = await startTask();
  const other = await startTask();
  const listen = async () => {
    const stream = stopAfterTest(
      await listenStateless(first.url, own.token, { taskIds: [own.taskId, other.taskId] }, 'l', tasks),
    );
    return async (count: number) => (await stream.events(count)).map(({ data }) => JSON.parse(data));
  };
  const early = await listen();
  expect(await early(1)).toMatchObject([{ params: { notifications: { taskIds: [own.taskId] } } }]);
  await first.decide(other.taskId, 'approved');
  await first.decide(own.taskId, 'approved');
  const ended = {
    method: 'notifications/tasks',
    params: { taskId: own.taskId, status: 'completed', result: { structuredContent: { status: 'pending' } } },
  };
  expect((await early(2))[1]).toMatchObject(ended);
  const late = await listen();
  expect((await late(2))[1]).toMatchObject(ended);
});
