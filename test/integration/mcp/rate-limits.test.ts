import { expect, test } from 'vitest';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { openElicitingSession } from '../../clients/mcp/raw-elicitation.ts';
import { askStateless, listenStateless } from '../../clients/mcp/stateless-request.ts';
import { startService } from '../../support/service.ts';
import { stopAfterTest } from '../../support/use.ts';

const extension = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** An agent whose calls have a budget, and what bus messages its process publishes. */
async function start(RATE_LIMITS: string) {
  const published: string[] = [];
  const service = stopAfterTest(
    await startService({
      worker: false,
      env: { RATE_LIMITS },
      overrides: {
        wrapBus: (bus) => ({
          ...bus,
          publish(messages) {
            published.push(...messages.map(({ topic }) => topic));
            return bus.publish(messages);
          },
        }),
      },
    }),
  );
  const [ann, bob] = [await service.agent({ audience: 'mcp' }), await service.agent({ audience: 'mcp' })];
  /** Uses all calls of its budget. */
  const exhaust = async (token: string) => {
    const call = () => callToolRaw(service.url, token, 'list_contacts', {});
    await expect.poll(call).toMatchObject({ value: { error: { code: 'RATE_LIMITED' } } });
  };
  const ask = (method: string, params: Record<string, unknown>) =>
    askStateless(service.url, ann.token, { method, params, capabilities: extension });
  return { service, published, ann, bob, exhaust, ask };
}

test('a stream reports the answer to a question also when the calls of its agent have no budget left', async () => {
  const { service, ann, bob, exhaust, ask } = await start('default=20/3600');
  const question = { name: 'ask', arguments: { with_handle: bob.handle, content: 'When?' } };
  const { result } = await ask('tools/call', question);
  const taskId = String(result?.['taskId']);
  const stream = stopAfterTest(
    await listenStateless(service.url, ann.token, { taskIds: [taskId] }, 'l', extension),
  );
  await stream.events(1);
  await exhaust(ann.token);
  const answer = { task_id: taskId, state: 'completed', message: 'Tomorrow.' };
  expect(await callToolRaw(service.url, bob.token, 'update_task', answer)).toMatchObject({ isError: false });
  const [, ended] = await stream.events(2);
  expect(JSON.parse(ended?.data ?? '')).toMatchObject({
    method: 'notifications/tasks',
    params: {
      taskId,
      status: 'completed',
      result: { structuredContent: { reply: { content: 'Tomorrow.' } } },
    },
  });
});

test('methods that read or write rows count as calls; messages for another process have a limit of their own', async () => {
  const { service, published, ann, exhaust, ask } = await start('default=5/3600,event_stream=2/3600');
  const session = await openElicitingSession(service.url, ann.token);
  const post = (message: object) =>
    postRawMessage(service.url, ann.token, { jsonrpc: '2.0', ...message }, { 'Mcp-Session-Id': session });
  await exhaust(ann.token);
  const limited = { error: { message: expect.stringContaining('the limit default is 5') } };
  for (const [method, params] of [
    ['logging/setLevel', { level: 'info' }],
    ['resources/unsubscribe', { uri: 'service://threads' }],
  ])
    expect(readRpcResult(await post({ id: 1, method, params }))).toMatchObject(limited);
  expect(await ask('tasks/get', { taskId: 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV' })).toMatchObject(limited);
  const messages = [
    { method: 'notifications/cancelled', params: { requestId: 7 } },
    { id: `${'n'.repeat(12)}.${'s'.repeat(24)}`, result: {} },
  ];
  for (const message of messages) expect((await post(message)).status).toBe(202);
  const refused = { error: { message: expect.stringContaining('the limit event_stream is 2') } };
  for (const message of messages) expect(await post(message)).toMatchObject({ status: 429, json: refused });
  const routed = published.filter((topic) => /^(mcp|node)\//.test(topic));
  expect(routed).toEqual(['mcp/cancelled', `node/${'n'.repeat(12)}`]);
});
