import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { connectAiSdk } from '../../clients/mcp/drivers/ai-sdk.ts';
import type { ConnectTools, ToolDriver } from '../../clients/mcp/drivers/driver.ts';
import { connectLangChain } from '../../clients/mcp/drivers/langchain.ts';
import { connectMcpRemote } from '../../clients/mcp/drivers/mcp-remote.ts';
import { connectMcporter } from '../../clients/mcp/drivers/mcporter.ts';
import { connectOpenAiAgents } from '../../clients/mcp/drivers/openai-agents.ts';
import { connectRawHttp } from '../../clients/mcp/drivers/raw-http.ts';
import { connectSdk } from '../../clients/mcp/drivers/sdk.ts';
import { type McpCluster, startMcpCluster } from './cluster.ts';

// Clients in separate processes take time to start.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let cluster: McpCluster;
beforeAll(async () => {
  cluster = await startMcpCluster();
});
afterAll(async () => void (await cluster.stop()));

const storyTools = [
  'whoami',
  'create_thread',
  'send_message',
  'ask',
  'wait_for_reply',
  'wait_for_events',
  'list_threads',
  'request_contact',
];

async function callSuccessfully(client: ToolDriver, name: string, args: Record<string, unknown> = {}) {
  const { isError, value } = await client.call(name, args);
  expect(isError, JSON.stringify(value)).toBe(false);
  return value;
}

/** Runs a conversation with one client; the peer answers with requests of its own. */
async function testStory(connect: ConnectTools): Promise<void> {
  const self = await cluster.agent({ audience: 'mcp' });
  const peer = await cluster.agent({ audience: 'mcp' });
  const client = await connect({
    url: cluster.url,
    token: self.token,
    onElicitation: (requested) => expect.fail(requested),
  });
  onTestFinished(() => client.close());
  async function callAsPeer(name: string, args: object) {
    const { isError, value, text } = await callToolRaw(cluster.url, peer.token, name, args);
    expect(isError, text).toBe(false);
    return value;
  }

  expect(await client.tools()).toEqual(expect.arrayContaining(storyTools));
  expect(await callSuccessfully(client, 'whoami')).toMatchObject({
    canonical_handle: self.handle,
    cursor: expect.any(String),
  });
  const thread = await callSuccessfully(client, 'create_thread', {
    with_handle: peer.handle,
    subject: 'A story',
  });
  const thread_id = String(thread['id']);
  expect(await callSuccessfully(client, 'send_message', { thread_id, content: 'Hello.' })).toMatchObject({
    sequence: 1,
    cursor: expect.any(String),
  });

  const asking = callSuccessfully(client, 'ask', { thread_id, content: 'How many?' });
  const question = await callAsPeer('wait_for_reply', { thread_id, after_sequence: 1 });
  expect(question).toMatchObject({ reply: { content: 'How many?', sequence: 2 } });
  await callAsPeer('send_message', { thread_id, content: 'Seven.' });
  expect(await asking).toMatchObject({ reply: { content: 'Seven.', sequence: 3 }, after_sequence: 2 });

  const unanswered = await callSuccessfully(client, 'ask', {
    thread_id,
    content: 'And tomorrow?',
    wait_seconds: 0,
  });
  expect(unanswered).toMatchObject({ message: { sequence: 4 }, reply: null, cursor: expect.any(String) });
  const after_sequence = unanswered['after_sequence'];
  const waiting = callSuccessfully(client, 'wait_for_reply', { thread_id, after_sequence });
  await callAsPeer('send_message', { thread_id, content: 'Eight.' });
  expect(await waiting).toMatchObject({ reply: { content: 'Eight.' }, cursor: expect.any(String) });

  const { cursor } = await callSuccessfully(client, 'whoami');
  const events = callSuccessfully(client, 'wait_for_events', { cursor, types: ['message.created'] });
  await callAsPeer('send_message', { thread_id, content: 'That is all.' });
  expect(await events).toMatchObject({ events: [{ data: { content: 'That is all.' } }] });

  await testErrors(client);
}

/** The client shows the errors of the service with what to do about them. */
async function testErrors(client: ToolDriver): Promise<void> {
  const stranger = await cluster.agent({ audience: 'mcp', inbound_policy: 'contacts_only' });
  const refused = await client.call('create_thread', { with_handle: stranger.handle });
  expect(refused).toMatchObject({
    isError: true,
    error: { message: expect.stringContaining('request contact first') },
  });
  const lost = await client.call('send_message', { thread_id: 'the story', content: 'Hello?' });
  expect(lost).toMatchObject({
    isError: true,
    error: { code: 'THREAD_NOT_FOUND', message: expect.stringContaining('list_threads') },
  });
}

test('with LangChain', () => testStory(connectLangChain));
test('with the OpenAI Agents SDK in strict mode', () => testStory(connectOpenAiAgents));
test('with the command line of mcporter', () => testStory(connectMcporter));
test('with the client of the MCP SDK', () => testStory(connectSdk));
test('with the client of the AI SDK', () => testStory(connectAiSdk));
test('through mcp-remote', () => testStory(connectMcpRemote));
test('with a client of 2024-11-05', () => testStory(connectRawHttp));
