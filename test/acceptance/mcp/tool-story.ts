import { expect, onTestFinished } from 'vitest';
import { callToolRaw } from '../../clients/mcp/client.ts';
import type { ConnectTools, ToolDriver } from '../../clients/mcp/drivers/driver.ts';
import type { McpCluster } from './cluster.ts';

type Cluster = Pick<McpCluster, 'url' | 'agent'>;

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
export async function testToolStory(cluster: Cluster, connect: ConnectTools): Promise<void> {
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

  await testErrors(cluster, client);
}

/** The client shows the errors of the service with what to do about them. */
async function testErrors(cluster: Cluster, client: ToolDriver): Promise<void> {
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
