import { describe, expect, test } from 'vitest';
import {
  a2aAddress,
  bindings,
  createA2aClient,
  fieldsOf,
  reasonOf,
  toA2aMessage,
} from '../../clients/a2a.ts';
import { respondWith } from '../../support/servers/webhook-receiver.ts';
import { now, usePush } from './push-setup.ts';

const { service, logged, openTask, newUrl, rowOf } = usePush();

describe.each(bindings)('over %s', (binding) => {
  test('a client creates, replaces, lists and deletes the configs of its task', async () => {
    const { client, taskId, create } = await openTask(binding);
    const url = newUrl();
    const made = await create({
      url,
      token: 'secret-1',
      authentication: { scheme: 'Bearer', credentials: 'secret-2' },
    });
    expect(made.result).toEqual({
      id: expect.any(String),
      taskId,
      url,
      authentication: { scheme: 'Bearer' },
    });
    const { id } = made.result;
    const named = { taskId, id };
    expect((await client.call('GetTaskPushNotificationConfig', named)).result).toEqual(made.result);
    const other = newUrl();
    expect((await create({ id, url: other })).result).toEqual({ id, taskId, url: other });
    const mine = await create({ id: 'mine', url });
    const { configs } = (await client.call('ListTaskPushNotificationConfigs', { taskId })).result;
    expect(configs).toEqual([{ id, taskId, url: other }, mine.result]);

    for (const _ of [1, 2]) {
      expect((await client.call('DeleteTaskPushNotificationConfig', named)).result).toEqual({});
    }
    expect(reasonOf(await client.call('GetTaskPushNotificationConfig', named))).toBe('TASK_NOT_FOUND');
    const left = await client.call('ListTaskPushNotificationConfigs', { taskId });
    expect(left.result.configs).toEqual([mine.result]);
  });

  test('no other client sees or changes the configs of a task', async () => {
    const { bob, taskId, create } = await openTask(binding);
    const { id } = (await create({ url: newUrl() })).result;
    const eve = await service.agent();
    const carl = await service.agent();
    const callers = [
      createA2aClient(binding, a2aAddress(service.url, bob.handle), eve.token),
      createA2aClient(binding, a2aAddress(service.url, carl.handle), eve.token),
    ];
    for (const client of callers) {
      const answers = [
        await client.call('CreateTaskPushNotificationConfig', { taskId, url: newUrl() }),
        await client.call('GetTaskPushNotificationConfig', { taskId, id }),
        await client.call('ListTaskPushNotificationConfigs', { taskId }),
        await client.call('DeleteTaskPushNotificationConfig', { taskId, id }),
      ];
      expect(answers.map(reasonOf)).toEqual(Array(4).fill('TASK_NOT_FOUND'));
    }
  });
});

test('a task has at most five configs', async () => {
  const { create, client, taskId } = await openTask();
  const all = await Promise.all(Array.from({ length: 7 }, () => create({ url: newUrl() })));
  expect(all.map(reasonOf).filter(Boolean)).toEqual(['VALIDATION_ERROR', 'VALIDATION_ERROR']);
  const { configs } = (await client.call('ListTaskPushNotificationConfigs', { taskId })).result;
  expect(configs).toHaveLength(5);
  expect((await create({ id: configs[0].id, url: newUrl() })).result.id).toBe(configs[0].id);
});

test('secrets are encrypted in the database, and in no log and no answer', async () => {
  const { client, taskId, create, update } = await openTask();
  const url = newUrl();
  const secrets = {
    token: 'very-secret-1',
    authentication: { scheme: 'Bearer', credentials: 'very-secret-2' },
  };
  const made = await create({ url, ...secrets });
  const answers = [
    made,
    await create({ url: 'https://10.0.0.1/hook', ...secrets }),
    await create({
      url,
      ...secrets,
      authentication: { scheme: 'very secret', credentials: 'very-secret-3\n' },
    }),
    await client.call('ListTaskPushNotificationConfigs', { taskId }),
  ];
  for (const { result, error } of answers)
    expect(JSON.stringify({ result, error })).not.toContain('very-secret');
  const row = await rowOf(taskId, made.result.id);
  expect(row?.credentials.length).toBeGreaterThan(20);
  expect(`${row?.credentials.toString('latin1')} ${row?.token.toString('latin1')}`).not.toContain(
    'very-secret',
  );

  service.receiver.setHandler(respondWith(500));
  await update('working', 'Looking.');
  await expect.poll(async () => (await rowOf(taskId, made.result.id))?.last_error).toBe('http_5xx');
  // The secrets of another SECRET_KEY cannot be read.
  const other = await create({ url: newUrl(), ...secrets });
  const overwrite = { text: `update a2a_push_configs set credentials = 'x' where id = $1` };
  await service.core.database.query(overwrite, [other.result.id]);
  service.receiver.setHandler(respondWith(204));
  await update('completed', 'Tomorrow.');
  await expect.poll(async () => (await rowOf(taskId, other.result.id))?.last_error).toBe('not_sendable');
  const words = ['very-secret', new URL(url).pathname];
  expect(logged.filter((line) => words.some((word) => line.includes(word)))).toEqual([]);
  expect(logged.join('\n')).toContain('an update cannot be sent');
});

test.each([
  'http://10.0.0.1/hook',
  'https://192.168.1.1/hook',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/hook',
  'https://[::ffff:10.0.0.1]/hook',
  'https://user:password@example.com/hook',
  'ftp://example.com/hook',
  'no url',
])('the URL %s is refused', async (url) => {
  const { create, client } = await openTask();
  const refused = [
    await create({ url }),
    await client.call('SendMessage', {
      message: toA2aMessage('Again?'),
      configuration: { ...now, taskPushNotificationConfig: { url } },
    }),
  ];
  expect(refused.map(reasonOf)).toEqual(['VALIDATION_ERROR', 'VALIDATION_ERROR']);
  expect(refused.map(fieldsOf)).toEqual([['url'], ['configuration.taskPushNotificationConfig.url']]);
  const { result } = await client.call('ListTasks', {});
  expect(result.totalSize).toBe(1);
});

test.each([
  { id: 'a/b' },
  { id: 'a:b' },
  { id: 'x'.repeat(65) },
  { token: 'two\r\nX-Header: 1' },
  { authentication: { scheme: 'Bearer x', credentials: 'y' } },
  { authentication: { scheme: 'Bearer', credentials: 'y\nz' } },
  { authentication: { credentials: 'y' } },
  { tenant: 'other' },
])('a config with %j is invalid', async (wrong) => {
  const { create } = await openTask();
  expect(reasonOf(await create({ url: newUrl(), ...wrong }))).toBe('VALIDATION_ERROR');
});

test('a config needs the scopes of its method', async () => {
  const { ann, bob, taskId } = await openTask();
  const token = await service.token(ann.handle, ['threads:read']);
  const client = createA2aClient('HTTP+JSON', a2aAddress(service.url, bob.handle), token);
  const refused = await client.call('CreateTaskPushNotificationConfig', { taskId, url: newUrl() });
  expect([refused.status, reasonOf(refused)]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  const listed = await client.call('ListTaskPushNotificationConfigs', { taskId });
  expect(listed.status).toBe(200);
});
