import { expect, onTestFinished, test, vi } from 'vitest';
import { callToolRaw, postRawMessage, connectSdkClient, readRpcResult } from '../../clients/mcp/client.ts';
import { useMcpInstance } from './instance.ts';

const instance = useMcpInstance({ progress_ms: 20 });

/** A reader, a writer and their thread. */
async function conversation(owner: string) {
  const reader = await instance.token(`${owner}.reader`);
  const writer = await instance.token(`${owner}.writer`);
  const { value } = await callToolRaw(instance.url, writer, 'create_thread', {
    with_handle: `${owner}.reader`,
  });
  const thread_id = String(value['id']);
  const send = (content: string, more: object = {}) =>
    callToolRaw(instance.url, writer, 'send_message', { thread_id, content, ...more });
  return { reader, writer, thread_id, send };
}

const contents = (value: Record<string, unknown>): unknown[] =>
  Object(value['events']).map(({ data }: { data: { content?: string } }) => data.content);

test('a wait of a session that leaves events out returns them later, and nothing twice', async () => {
  const { reader, writer, send, thread_id } = await conversation('filtered');
  const { transport, close } = await connectSdkClient(instance.url, reader);
  onTestFinished(close);
  const call = async (name: string, args: object) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    const answer = await postRawMessage(instance.url, reader, message, {
      'Mcp-Session-Id': transport.sessionId ?? '',
    });
    return readRpcResult(answer).result?.['structuredContent'] as Record<string, unknown>;
  };
  const wait = (args: object = {}) => call('wait_for_events', { wait_seconds: 0, ...args });
  await wait();
  const other = await callToolRaw(instance.url, writer, 'create_thread', { with_handle: 'filtered.reader' });
  await send('elsewhere', { thread_id: other.value['id'] });
  await send('here');
  expect(contents(await wait({ thread_id }))).toEqual(['here']);
  await send('a subject follows');
  await callToolRaw(instance.url, writer, 'update_thread', { thread_id, subject: 'new' });
  expect(await wait({ types: ['thread.updated'] })).toMatchObject({ events: [{ type: 'thread.updated' }] });

  const question = await call('ask', { thread_id, content: 'Ready?', wait_seconds: 0 });
  expect(question).toMatchObject({
    message: { sequence: 3 },
    reply: null,
    pending_events: expect.any(Number),
  });
  await send('Ready.');
  const answer = await call('wait_for_reply', { thread_id, after_sequence: question['after_sequence'] });
  expect(answer).toMatchObject({
    reply: { content: 'Ready.', relationship: 'same_owner', created_at_text: expect.stringMatching(/Z$/) },
    cursor: expect.any(String),
  });
  await send('one more');
  // thread.created of the other thread has no content.
  expect(contents(await wait())).toEqual([undefined, 'elsewhere', 'a subject follows', 'one more']);
  expect(contents(await wait())).toEqual([]);
});

test('a question is asked, waited for with progress, and answered with the reply', async () => {
  const { reader, send, thread_id } = await conversation('asking');
  const { client, close } = await connectSdkClient(instance.url, reader);
  onTestFinished(close);
  let reports = 0;
  const asking = client.callTool(
    { name: 'ask', arguments: { thread_id, content: 'How many?', idempotency_key: 'asking-once' } },
    undefined,
    { onprogress: () => (reports += 1) },
  );
  await vi.waitFor(() => expect(reports).toBeGreaterThan(1), { timeout: 20_000 });
  await send('Seven.');
  const { structuredContent: value } = await asking;
  expect(value).toMatchObject({ reply: { content: 'Seven.', sequence: 2 }, after_sequence: 1 });
  expect(Object(value)['message']).not.toHaveProperty('content');
  // The contact and the thread: neither the question, which is its own, nor the reply, which it shows.
  expect(value).toHaveProperty('pending_events', 2);
});
