import { expect, onTestFinished, test } from 'vitest';
import { callToolRaw, connectSdkClient, postRawMessage } from '../../../clients/mcp/client.ts';
import { buildStatelessRequest } from '../../../clients/mcp/stateless-request.ts';
import { useMcpInstance } from '../instance.ts';

const instance = useMcpInstance();

/** A reader, and what a writer does to send to it. */
async function conversation(owner: string) {
  const writer = await instance.token(`${owner}.writer`);
  const reader = await instance.token(`${owner}.reader`);
  const { value } = await callToolRaw(instance.url, writer, 'create_thread', {
    with_handle: `${owner}.reader`,
  });
  const send = (content: string) =>
    callToolRaw(instance.url, writer, 'send_message', { thread_id: value['id'], content });
  return { reader, send };
}

const contents = (value: Record<string, unknown>): unknown[] =>
  Object(value['events']).map(({ data }: { data: { content?: string } }) => data.content);

test('a cancelled wait gets no result as JSON either, and does not move the session', async () => {
  const { reader, send } = await conversation('cancelled');
  const { transport, client, close } = await connectSdkClient(instance.url, reader);
  onTestFinished(close);
  const headers = { 'Mcp-Session-Id': transport.sessionId ?? '', Accept: 'application/json' };
  const wait = () => client.callTool({ name: 'wait_for_events', arguments: {} });
  await wait();
  const params = { name: 'wait_for_events', arguments: {} };
  const call = { jsonrpc: '2.0', id: 'plain', method: 'tools/call', params };
  const answer = postRawMessage(instance.url, reader, call, headers);
  // The stream of the client, and the wait.
  await expect.poll(() => instance.members('cancelled.reader')).toBe(2);
  const method = 'notifications/cancelled';
  const cancel = { jsonrpc: '2.0', method, params: { requestId: 'plain' } };
  expect((await postRawMessage(instance.url, reader, cancel, headers)).status).toBe(202);
  const { status, text, headers: answered } = await answer;
  expect([status, text, answered.get('content-type')]).toEqual([202, '', null]);
  await send('still there');
  expect(contents(Object((await wait()).structuredContent))).toEqual(['still there']);
});

test.each([
  ['2025-11-25', () => ({ headers: {}, params: {} })],
  [
    '2026-07-28',
    () => {
      const { headers, message } = buildStatelessRequest({
        method: 'tools/call',
        params: { name: 'wait_for_events' },
      });
      return { headers, params: message.params };
    },
  ],
])('revision %s: the head of a stream comes before the first event', async (revision, build) => {
  const { reader, send } = await conversation(`head${revision}`);
  const { headers, params: meta } = build();
  const post = (Accept: string) => {
    const params = { ...meta, name: 'wait_for_events', arguments: { types: ['message.created'] } };
    const init = {
      method: 'POST',
      headers: {
        ...headers,
        Authorization: `Bearer ${reader}`,
        'Content-Type': 'application/json',
        Accept,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    };
    return fetch(`${instance.url}/mcp`, init);
  };
  const response = await post('application/json, text/event-stream');
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reading = response.body?.getReader();
  expect(new TextDecoder().decode((await reading?.read())?.value)).toBe(':\n');
  await send('at last');
  expect(new TextDecoder().decode((await reading?.read())?.value)).toContain('at last');
  await reading?.cancel();
  await send('as JSON');
  const plain = await post('application/json');
  expect(plain.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await plain.text()).toContain('as JSON');
});
