import { expect, test } from 'vitest';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { useMcpInstance } from './instance.ts';

const instance = useMcpInstance();

test('the SDK client finds every tool with schemas that stand on their own', async () => {
  const { client, close } = await connectSdkClient(instance.url, await instance.token('sdk.lister'));
  expect(client.getInstructions()).toContain('sdk.lister');
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  expect(names).toEqual(
    expect.arrayContaining([
      'whoami',
      'create_thread',
      'list_threads',
      'get_thread',
      'send_message',
      'update_thread',
    ]),
  );
  for (const tool of tools) {
    expect(JSON.stringify(tool)).not.toContain('$ref');
    expect(tool.inputSchema).toMatchObject({ type: 'object' });
    expect(tool.outputSchema).toMatchObject({ type: 'object' });
    expect(JSON.stringify(tool.outputSchema)).not.toContain('"additionalProperties"');
    // A repeated claim returns other messages.
    const hasKey = !tool.annotations?.readOnlyHint && tool.name !== 'claim_messages';
    expect('idempotency_key' in (tool.inputSchema.properties ?? {}), tool.name).toBe(hasKey);
  }
  await close();
});

test('the SDK client calls each tool, and takes each result for what its output schema says', async () => {
  const { client, close } = await connectSdkClient(instance.url, await instance.token('sdk.caller'));
  await instance.token('sdk.callee');
  await client.listTools(); // from here on it validates
  async function call(name: string, args: Record<string, unknown> = {}) {
    const result = await client.callTool({ name, arguments: args });
    expect(result.isError).toBeFalsy();
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(result.structuredContent) }]);
    return Object(result.structuredContent);
  }
  expect(await call('whoami')).toMatchObject({ canonical_handle: 'sdk.caller' });
  const thread = await call('create_thread', {
    with_handle: '@SDK.callee',
    subject: 'hi',
    initial_message: 'one',
  });
  expect(thread).toMatchObject({ subject: 'hi', status: 'active' });
  expect(await call('send_message', { thread_id: thread.id, content: 'two' })).toMatchObject({ sequence: 2 });
  expect(await call('list_threads')).toMatchObject({
    threads: [{ id: thread.id, unread_count: 0, last_message: { preview: 'two' } }],
  });
  const read = await call('get_thread', { thread_id: thread.id });
  expect(read).toMatchObject({ thread: { id: thread.id }, earlier: false });
  expect(read.messages).toMatchObject([
    { content: 'one', relationship: 'self', sender: { canonical_handle: 'sdk.caller' } },
    { content: 'two' },
  ]);
  expect(await call('update_thread', { thread_id: thread.id, status: 'closed' })).toMatchObject({
    status: 'closed',
  });
  await close();
});

test('the SDK client reads resources', async () => {
  const { client, close } = await connectSdkClient(instance.url, await instance.token('sdk.reader'));
  await instance.token('sdk.other');
  const made = await client.callTool({
    name: 'create_thread',
    arguments: { with_handle: 'sdk.other', initial_message: 'read me' },
  });
  const { id } = Object(made.structuredContent);
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain('service://threads');
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('service://threads/{id}');

  async function read(uri: string): Promise<unknown> {
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }]);
    return JSON.parse(Object(contents[0]).text);
  }
  expect(await read('service://threads')).toMatchObject({ threads: [{ id }] });
  expect(await read(`service://threads/${id}`)).toMatchObject({
    thread: { id },
    messages: [{ content: 'read me' }],
  });

  await expect(client.readResource({ uri: 'service://nothing' })).rejects.toMatchObject({ code: -32_002 });
  await expect(client.readResource({ uri: 'service://threads/thd_no' })).rejects.toMatchObject({
    code: -32_002,
    data: { error: { code: 'THREAD_NOT_FOUND' } },
  });
  await close();
});

test('the SDK client gets notifications, and those of a cut as well', async () => {
  const token = await instance.token('sdk.listener');
  const writer = await connectSdkClient(instance.url, await instance.token('sdk.writer'));
  const drops: AbortController[] = [];
  // Cuts the stream as a network would: the client sees a broken connection and comes back by itself.
  let heard = 0;
  const fetchWithCut: typeof fetch = async (address, init) => {
    if (init?.method !== 'GET') return fetch(address, init);
    const drop = new AbortController();
    drops.push(drop);
    const answer = await fetch(address, {
      ...init,
      signal: AbortSignal.any([drop.signal, ...(init.signal ? [init.signal] : [])]),
    });
    const noted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        heard += 1;
      },
    });
    return new Response(answer.body?.pipeThrough(noted) ?? null, answer);
  };
  const listener = await connectSdkClient(instance.url, token, { fetch: fetchWithCut });
  await expect.poll(() => heard).toBeGreaterThan(0);
  expect(drops).toHaveLength(1);

  // Cut before anything came: the priming event told the client where it stands.
  drops[0]?.abort();
  const made = await writer.client.callTool({
    name: 'create_thread',
    arguments: { with_handle: 'sdk.listener', initial_message: 'during the cut' },
  });
  const { id } = Object(made.structuredContent);
  await expect.poll(() => listener.notifications.length).toBe(2);
  expect(listener.notifications).toMatchObject([
    {
      method: 'notifications/service/thread_created',
      params: { id, created_by: 'sdk.writer' },
    },
    { method: 'notifications/service/message_created', params: { thread_id: id, content: 'during the cut' } },
  ]);

  drops[1]?.abort();
  await writer.client.callTool({ name: 'send_message', arguments: { thread_id: id, content: 'and again' } });
  await expect.poll(() => listener.notifications.length).toBe(3);
  expect(listener.notifications[2]).toMatchObject({ params: { content: 'and again' } });
  await Promise.all([listener.close(), writer.close()]);
});
