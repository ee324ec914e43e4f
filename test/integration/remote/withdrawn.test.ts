import { expect, test } from 'vitest';
import { waitUntil } from '../webhooks/setup.ts';
import { meetRemote, useInstallation } from './setup.ts';

const service = useInstallation();

test('a server of another system is not told of a withdrawal', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const thread_id = await service.thread(ann, remote);
  const { id, sequence } = await service.send(ann, thread_id, 'silent one');
  await waitUntil(async () => (await service.marks(ann, thread_id, remote)).delivered).toBe(sequence);
  expect((await service.post(ann, `/messages/${id}/withdraw`)).status).toBe(200);
  await waitUntil(() =>
    service.sql('select 1 from remote_withdrawals where thread_id = $1', [thread_id]),
  ).toEqual([]);
  await service.send(ann, thread_id, 'silent two');
  await waitUntil(() => server.texts()).toEqual(['silent one', 'silent two']);
});

test('a message that is withdrawn or replaced before it was sent is not sent', async () => {
  const { server, ann, remote } = await meetRemote(service, { binding: 'JSONRPC' });
  server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '1800' } });
  const { thread_id, task_id, message_id } = await service.ask(ann, remote, 'When?');
  await waitUntil(() => server.texts()).toEqual(['When?']);
  const path = `/threads/${thread_id}/messages`;
  const old = await service.post(ann, path, { content: 'old' });
  expect((await service.post(ann, path, { content: 'silent new', replaces: old.body.id })).status).toBe(201);
  expect((await service.post(ann, `/messages/${message_id}/withdraw`)).status).toBe(200);
  expect((await service.readTask(ann, task_id)).state).toBe('canceled');
  await service.pass(thread_id);
  await waitUntil(() => server.texts()).toEqual(['When?', 'silent new']);
  const { body } = await service.get(ann, `${path}?order=asc`);
  expect(body.messages).toMatchObject([
    { content: '', withdrawn_at: expect.any(Number) },
    { content: 'old', replaced_by: body.messages[2].id },
    { content: 'silent new', replaces: old.body.id },
  ]);
});
