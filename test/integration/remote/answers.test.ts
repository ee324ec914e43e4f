import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { bindings } from '../../clients/a2a.ts';
import { fetchContent, uploadId, waitForScan } from '../attachments/setup.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { meetRemote, type ReadMessage, storyOf, useInstallation } from './setup.ts';

const service = useInstallation();

const pushUrlOf = (params: { configuration?: { taskPushNotificationConfig?: { url?: string } } }) =>
  params.configuration?.taskPushNotificationConfig?.url;

test.each(bindings)(
  'an answer is found by a poll over %s if the other side does not push',
  async (binding) => {
    const { server, ann, remote } = await meetRemote(service, { binding, hasPush: false });
    const { thread_id, task_id } = await service.ask(ann, remote, 'wait');
    await waitUntil(() => server.callsOf('GetTask').length).toBeGreaterThan(0);
    server.agent.turnsOf('wait')[0]?.complete('later');
    await waitUntil(async () => {
      await service.pass(thread_id);
      return (await service.readTask(ann, task_id)).state;
    }).toBe('completed');
    expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual([
      'here: wait',
      'there: Done: later',
    ]);
    expect(server.callsOf('SendMessage').map(({ params }) => pushUrlOf(params))).toEqual([undefined]);
  },
);

test.each(bindings)('a push notification brings an answer at once over %s', async (binding) => {
  const { server, ann, remote } = await meetRemote(service, { binding });
  const { thread_id, task_id } = await service.ask(ann, remote, 'wait');
  await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
  // No poll is due for an hour.
  const later = 'update remote_tasks set poll_at = $2 where thread_id = $1 and poll_at is not null';
  await service.sql(later, [thread_id, Date.now() + 3_600_000]);
  await service.sql('update remote_threads set poll_at = $2 where thread_id = $1', [
    thread_id,
    Date.now() + 3_600_000,
  ]);
  server.agent.turnsOf('wait')[0]?.complete('later');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  expect(storyOf(await service.messages(ann, thread_id), ann)).toEqual(['here: wait', 'there: Done: later']);
  const urls = server.callsOf('SendMessage').map(({ params }) => pushUrlOf(params));
  expect(urls).toEqual([expect.stringMatching(`^${service.url}/`)]);
});

test('each message has a callback address of its own', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const first = await service.ask(ann, remote, 'silent one');
  await service.ask(ann, first, 'silent two');
  await waitUntil(() => server.texts()).toEqual(['silent one', 'silent two']);
  const urls = server.callsOf('SendMessage').map(({ params }) => pushUrlOf(params));
  expect(new Set(urls).size).toBe(2);
});

test('a long text and bytes become attachments, and an address stays a link', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const { thread_id } = await service.ask(ann, remote, 'files');
  await waitUntil(async () => (await service.messages(ann, thread_id)).length).toBe(2);
  const [, files] = await service.messages(ann, thread_id);
  expect(files?.content).toContain('Two files.');
  expect(files?.content).toContain('https://files.example/picture.png');
  expect(files?.attachments).toMatchObject([{ filename: 'bytes.txt', content_type: 'text/plain' }]);
  expect(await contentOf(files)).toBe('The bytes.\n');

  const long = await service.ask(ann, { thread_id }, 'long');
  await waitUntil(async () => (await service.readTask(ann, long.task_id)).state).toBe('completed');
  const last = (await service.messages(ann, thread_id)).at(-1);
  expect(last?.attachments).toHaveLength(1);
  expect(await contentOf(last)).toBe('A long text. '.repeat(3_000));
  expect(server.texts()).toEqual(['files', 'long']);

  async function contentOf(message: ReadMessage | undefined): Promise<string> {
    const id = message?.attachments[0]?.id ?? '';
    expect((await waitForScan(service, ann, id)).scan_status).toBe('clean');
    return (await fetchContent(service, ann, id)).text();
  }
});

test('attachments go out as bytes, and large ones as addresses', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const small = Buffer.from('order,day\n1042,Friday\n');
  const large = randomBytes(5 * 1_024 * 1_024);
  const ids = await Promise.all([
    uploadId(service, ann, { name: 'orders.csv', type: 'text/csv', bytes: small }),
    uploadId(service, ann, { name: 'large.bin', type: 'application/octet-stream', bytes: large }),
  ]);
  for (const id of ids) await waitForScan(service, ann, id);
  const thread_id = await service.thread(ann, remote);
  await service.send(ann, thread_id, 'See the file.', { attachment_ids: ids.slice(0, 1) });
  await service.send(ann, thread_id, 'See the other one.', { attachment_ids: ids.slice(1) });
  await waitUntil(() => server.texts()).toEqual(['See the file.', 'See the other one.']);
  const [first, second] = server.callsOf('SendMessage').map(({ params }) => params.message.parts);
  expect(first).toEqual([
    expect.objectContaining({ text: 'See the file.' }),
    expect.objectContaining({ raw: small.toString('base64'), filename: 'orders.csv', mediaType: 'text/csv' }),
  ]);
  expect(second[1]).toMatchObject({ filename: 'large.bin', mediaType: 'application/octet-stream' });
  expect(second[1].raw).toBeUndefined();
  const got = await fetch(second[1].url);
  expect(Buffer.from(await got.arrayBuffer()).equals(large)).toBe(true);
});

test('the metadata of a message and what it expects are in the extension', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const thread_id = await service.thread(ann, remote);
  await service.send(ann, thread_id, 'An order.', { metadata: { order: 1042 } });
  await service.send(ann, thread_id, 'Thanks.', { metadata: { no_reply_expected: true } });
  await waitUntil(() => server.texts()).toEqual(['An order.', 'Thanks.']);
  const uri = 'urn:agent-messaging-service:a2a:mailbox:1';
  const said = server.callsOf('SendMessage').map(({ params }) => params.message.metadata[uri]);
  expect(said).toMatchObject([
    { conversation: thread_id, metadata: { order: 1042 } },
    { conversation: thread_id, expects_reply: false },
  ]);
  expect(said[0].expects_reply).toBeUndefined();
  expect(server.calls[0]?.headers['a2a-extensions']).toContain(uri);
});
