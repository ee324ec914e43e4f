import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bindings } from '../../clients/a2a.ts';
import type { TestAgent } from '../../support/service.ts';
import { fetchContent, uploadId, waitForScan } from '../attachments/setup.ts';
import { waitUntil } from '../webhooks/setup.ts';
import {
  artifact,
  buildTask,
  meetRemote,
  type ReadMessage,
  showTask,
  storyOf,
  useInstallation,
} from './setup.ts';

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

test('the file of a long answer also has its data and its links', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const parts = [{ data: { report: 'y'.repeat(40_000) } }, { url: 'https://files.example/a.pdf' }];
  showTask(server, () => buildTask({ artifacts: [{ artifactId: 'long', parts }] }, 'TASK_STATE_COMPLETED'));
  const { thread_id, task_id } = await service.ask(ann, remote, 'Report?');
  await passUntil({ ann, thread_id, task_id }, 'completed');
  const id = (await service.messages(ann, thread_id)).at(-1)?.attachments[0]?.id ?? '';
  expect((await waitForScan(service, ann, id)).scan_status).toBe('clean');
  const text = await (await fetchContent(service, ann, id)).text();
  expect(text).toContain('y'.repeat(40_000));
  expect(text).toContain('https://files.example/a.pdf');
});

describe('an artifact', () => {
  test('arrives whole if it grows while its task is open', async () => {
    const { server, ann, remote } = await meetRemote(service);
    const shown = { task: buildTask({ artifacts: [artifact('report', 'One.')] }) };
    showTask(server, () => shown.task);
    const { thread_id, task_id } = await service.ask(ann, remote, 'Report?');
    await passUntil({ ann, thread_id, task_id }, 'working');
    const parts = [{ text: 'One.' }, { text: 'Two.' }];
    shown.task = buildTask({ artifacts: [{ artifactId: 'report', parts }] }, 'TASK_STATE_COMPLETED');
    await passUntil({ ann, thread_id, task_id }, 'completed');
    const story = storyOf(await service.messages(ann, thread_id), ann);
    expect(story).toEqual(['here: Report?', 'there: One.\n\nTwo.']);
  });

  test('arrives from each task, also with the ID and the text of an earlier one', async () => {
    const { server, ann, remote } = await meetRemote(service);
    const results = { artifacts: [artifact('result', 'Yes.'), artifact('result', 'Yes.')] };
    const begun = { tasks: 0 };
    const begin = () => ({ id: `task-${(begun.tasks += 1)}` });
    server.answer('SendMessage', () => ({ task: buildTask(begin(), 'TASK_STATE_SUBMITTED') }));
    server.answer('GetTask', ({ id }: { id: string }) =>
      buildTask({ id, ...results }, 'TASK_STATE_COMPLETED'),
    );
    expect(await askTwice(ann, remote)).toEqual([
      'here: First?',
      'there: Yes.',
      'here: Second?',
      'there: Yes.',
    ]);
  });

  test('arrives again if it changed after the task needed input, and once if only its URL is signed again', async () => {
    const { server, ann, remote } = await meetRemote(service);
    const signed = { reads: 0 };
    const draft = (text: string) => {
      const url = `https://files.example/plan.pdf?signature=${(signed.reads += 1)}`;
      return { artifacts: [artifact('plan', text), { artifactId: 'file', parts: [{ url }] }] };
    };
    const shown = { text: 'Draft.', state: 'TASK_STATE_INPUT_REQUIRED' };
    showTask(server, () => buildTask(draft(shown.text), shown.state));
    const { thread_id, task_id } = await service.ask(ann, remote, 'Plan?');
    await passUntil({ ann, thread_id, task_id }, 'input_required');
    const reads = signed.reads;
    await passUntilReads(reads + 2);
    Object.assign(shown, { text: 'Final.', state: 'TASK_STATE_COMPLETED' });
    await passUntil({ ann, thread_id, task_id }, 'completed');
    const story = storyOf(await service.messages(ann, thread_id), ann);
    expect(story).toEqual([
      'here: Plan?',
      'there: Draft.',
      expect.stringContaining('plan.pdf'),
      'there: Final.',
    ]);

    async function passUntilReads(count: number): Promise<void> {
      await waitUntil(async () => {
        await service.pass(thread_id);
        return signed.reads;
      }).toBeGreaterThanOrEqual(count);
    }
  });
});

test.each([
  { name: 'an artifact without parts', fields: { artifacts: [{ artifactId: 'empty', parts: [] }] } },
  {
    name: 'an artifact without an ID',
    fields: { artifacts: [{ parts: [{ text: 'No ID.' }] }] },
    said: ['No ID.'],
  },
  {
    name: 'a message and an artifact without IDs',
    fields: {
      artifacts: [{ parts: [{ text: 'The artifact.' }] }],
      history: [{ role: 'ROLE_AGENT', parts: [{ text: 'The message.' }] }],
    },
    said: ['The message.', 'The artifact.'],
  },
  {
    name: 'an artifact in many pieces',
    fields: {
      artifacts: [{ artifactId: 'pieces', parts: Array.from({ length: 1_500 }, () => ({ text: 'a' })) }],
    },
    said: [Array(1_500).fill('a').join('\n\n')],
  },
  { name: 'no context', fields: { contextId: '' } },
  {
    name: 'messages without parts, IDs and roles',
    fields: { history: [{ messageId: 'm-1', role: 'ROLE_AGENT', parts: [] }, {}] },
  },
])('a task with $name is read', async ({ fields, said = [] }) => {
  const { server, ann, remote } = await meetRemote(service);
  showTask(server, () => buildTask(fields, 'TASK_STATE_COMPLETED'));
  const { thread_id, task_id } = await service.ask(ann, remote, 'Odd?');
  await passUntil({ ann, thread_id, task_id }, 'completed');
  const story = storyOf(await service.messages(ann, thread_id), ann).slice(1);
  expect(story).toEqual(said.map((text) => `there: ${text}`));
});

test('a state that is unknown changes nothing, and the task is read again', async () => {
  const { server, ann, remote } = await meetRemote(service);
  const shown = { state: 'TASK_STATE_PONDERING' };
  showTask(server, () => buildTask({}, shown.state));
  server.answer('SendMessage', () => ({ task: buildTask({}, shown.state) }));
  const { thread_id, task_id } = await service.ask(ann, remote, 'Odd?');
  await waitUntil(async () => (await service.readTask(ann, task_id)).delivery).toBe('delivered');
  expect((await service.readTask(ann, task_id)).state).toBe('submitted');
  shown.state = 'TASK_STATE_COMPLETED';
  await passUntil({ ann, thread_id, task_id }, 'completed');
});

test('an empty message as the answer completes the task', async () => {
  const { server, ann, remote } = await meetRemote(service);
  server.answer('SendMessage', () => ({ message: { messageId: 'm-1', role: 'ROLE_AGENT', parts: [] } }));
  const { thread_id, task_id } = await service.ask(ann, remote, 'Odd?');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  const story = storyOf(await service.messages(ann, thread_id), ann);
  expect(story).toEqual(['here: Odd?', 'there: The answer is empty.']);
});

test('equal answers without an ID complete each task', async () => {
  const { server, ann, remote } = await meetRemote(service);
  server.answer('SendMessage', () => ({ message: { role: 'ROLE_AGENT', parts: [{ text: 'OK.' }] } }));
  expect(await askTwice(ann, remote)).toEqual(['here: First?', 'there: OK.', 'here: Second?', 'there: OK.']);
});

/** Asks two questions in one thread, each until its task is completed; returns all that was said. */
async function askTwice(ann: TestAgent, remote: Parameters<typeof service.ask>[1]): Promise<string[]> {
  const { thread_id, task_id } = await service.ask(ann, remote, 'First?');
  await passUntil({ ann, thread_id, task_id }, 'completed');
  const second = await service.ask(ann, { thread_id }, 'Second?');
  await passUntil({ ann, thread_id, task_id: second.task_id }, 'completed');
  return storyOf(await service.messages(ann, thread_id), ann);
}

/** Reads a task, however often, until it has a state. */
async function passUntil(
  { ann, thread_id, task_id }: { ann: TestAgent; thread_id: string; task_id: string },
  state: string,
): Promise<void> {
  await waitUntil(async () => {
    await service.pass(thread_id);
    return (await service.readTask(ann, task_id)).state;
  }).toBe(state);
}

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
