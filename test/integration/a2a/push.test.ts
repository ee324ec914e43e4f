import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { a2aAddress, bindings } from '../../clients/a2a.ts';
import { respondWith } from '../../support/servers/webhook-receiver.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { now, tellAll, usePush, wholeStory } from './push-setup.ts';

const { service, openTask, postsTo, newUrl, storyOf, rowOf } = usePush();

test.each(bindings)(
  'a config of the message that opens a task gets every update of it, in order, over %s',
  async (binding) => {
    const url = newUrl();
    const taskPushNotificationConfig = { url, token: 'abc' };
    const task = await openTask(binding, { ...now, taskPushNotificationConfig });
    await tellAll(task);
    await waitUntil(() => storyOf(url)).toEqual(wholeStory);
    const listed = await task.client.call('ListTaskPushNotificationConfigs', { taskId: task.taskId });
    expect(listed.result.configs).toEqual([{ id: expect.any(String), taskId: task.taskId, url }]);
  },
);

test('a request has the headers of its config', async () => {
  const { taskId, create, update } = await openTask();
  const [plain, bearer, signed] = [newUrl(), newUrl(), newUrl()];
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await create({ url: plain });
  await create({
    url: bearer,
    token: 'session-7',
    authentication: { scheme: 'Bearer', credentials: 'x.y.z' },
  });
  await create({ url: signed, token: secret });
  await update('working', 'Looking.');
  await waitUntil(() => [plain, bearer, signed].map((url) => postsTo(url).length)).toEqual([1, 1, 1]);
  const headersOf = (url: string) => postsTo(url)[0]?.headers ?? {};
  for (const url of [plain, bearer, signed]) {
    expect(headersOf(url)).toMatchObject({
      'content-type': 'application/a2a+json',
      'a2a-version': '1.0',
      'webhook-id': `${taskId}-2`,
      'webhook-timestamp': expect.stringMatching(/^\d+$/),
    });
  }
  expect(headersOf(plain)['authorization']).toBeUndefined();
  expect(headersOf(plain)['x-a2a-notification-token']).toBeUndefined();
  expect(headersOf(bearer)['authorization']).toBe('Bearer x.y.z');
  expect(headersOf(bearer)['x-a2a-notification-token']).toBe('session-7');
  const [post] = postsTo(signed);
  expect(headersOf(signed)['x-a2a-notification-token']).toBeUndefined();
  new Webhook(secret).verify(post?.text ?? '', post?.headers as Record<string, string>);
  expect(JSON.stringify(post)).not.toContain(secret.slice(6));
});

test('a config gets the updates after it was stored, also on an ended task', async () => {
  const { taskId, create, update } = await openTask();
  await update('working', 'Looking.');
  const url = newUrl();
  const { id } = (await create({ url })).result;
  await update('completed', 'Tomorrow.', { artifact: true });
  await waitUntil(() => storyOf(url)).toEqual(['artifact Tomorrow.', 'TASK_STATE_COMPLETED']);
  // Later events of the client do not read it.
  await waitUntil(async () => (await rowOf(taskId, id))?.next_at).toBeNull();
  const late = newUrl();
  expect((await create({ url: late })).result.url).toBe(late);
  expect(postsTo(late)).toEqual([]);
});

test('the mailbox extension adds its metadata to the updates of configs whose client named it', async () => {
  const { client, taskId, update } = await openTask();
  const url = newUrl();
  const uri = 'urn:agent-messaging-service:a2a:mailbox:1';
  const headers = { 'A2A-Extensions': uri };
  await client.call('CreateTaskPushNotificationConfig', { taskId, url }, { headers });
  await update('working', 'Looking.');
  await waitUntil(() => postsTo(url)[0]?.json.statusUpdate.metadata[uri].generation).toBe(2);
});

test('a receiver that is away gets everything later, in order, and each update under one id', async () => {
  const task = await openTask();
  const url = newUrl();
  await task.create({ url });
  let refusals = 2;
  service.receiver.setHandler((response) => {
    refusals -= 1;
    respondWith(refusals >= 0 ? 503 : 204)(response, undefined as never);
  });
  await tellAll(task);
  await waitUntil(() => storyOf(url).slice(2)).toEqual(wholeStory);
  const ids = postsTo(url).map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual([2, 2, 2, 3, 4, 5].map((generation) => `${task.taskId}-${generation}`));
});

test.each([
  { name: 'after 410', status: 410, posts: 1 },
  { name: 'after the last attempt', status: 500, posts: 3 },
  { name: 'that redirects', status: 307, posts: 3 },
])('a config stops $name, stays listed, and starts again from its position', async ({ status, posts }) => {
  const task = await openTask();
  const url = newUrl();
  const elsewhere = newUrl();
  const { id } = (await task.create({ url })).result;
  service.receiver.setHandler(respondWith(status, { Location: elsewhere }));
  await tellAll(task);
  const row = async () => (await rowOf(task.taskId, id))?.next_at;
  await expect.poll(row).toBeNull();
  expect(postsTo(url)).toHaveLength(posts);
  const { result } = await task.client.call('GetTaskPushNotificationConfig', { taskId: task.taskId, id });
  expect(result.url).toBe(url);

  service.receiver.setHandler(respondWith(204));
  const again = newUrl();
  await task.create({ id, url: again });
  await waitUntil(() => storyOf(again)).toEqual(wholeStory);
  expect(postsTo(url)).toHaveLength(posts);
  expect(postsTo(elsewhere)).toEqual([]);
});

test('a deleted config gets nothing more', async () => {
  const { client, taskId, create, update } = await openTask();
  const [first, second] = [newUrl(), newUrl()];
  const { id } = (await create({ url: first })).result;
  await create({ url: second });
  await update('working', 'Looking.');
  await waitUntil(() => storyOf(first)).toEqual(['TASK_STATE_WORKING Looking.']);
  await client.call('DeleteTaskPushNotificationConfig', { taskId, id });
  await update('completed', 'Tomorrow.');
  await waitUntil(() => storyOf(second)).toHaveLength(3);
  expect(postsTo(first)).toHaveLength(1);
});

test('a client of A2A 0.3 gets the task in the form of 0.3', async () => {
  const { ann, bob, taskId, update } = await openTask();
  const url = newUrl();
  const address = a2aAddress(service.url, bob.handle).replace('/a2a/', '/a2a/v0.3/');
  const call = async (method: string, params: object) => {
    const response = await fetch(address, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ann.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return response.json();
  };
  const authentication = { schemes: ['Bearer'], credentials: 'x.y.z' };
  const made = await call('tasks/pushNotificationConfig/set', {
    taskId,
    pushNotificationConfig: { url, authentication },
  });
  expect(made.result).toMatchObject({ taskId, pushNotificationConfig: { url } });
  await update('working', 'Looking.');
  await waitUntil(() => postsTo(url)[0]?.json.status?.state).toBe('working');
  await update('completed', 'Tomorrow.', { artifact: true });
  await waitUntil(() => postsTo(url).at(-1)?.json.status.state).toBe('completed');
  const last = postsTo(url).at(-1);
  expect(last?.json).toMatchObject({
    kind: 'task',
    id: taskId,
    artifacts: [{ parts: [{ kind: 'text', text: 'Tomorrow.' }] }],
  });
  expect(last?.headers).toMatchObject({
    'content-type': 'application/json',
    'a2a-version': '0.3',
    authorization: 'Bearer x.y.z',
  });
});
