import { expect, test } from 'vitest';
import { findForm } from '../../clients/form-browser.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { applyStoredDecisions, signInPerson } from '../../integration/console/signed-in-person.ts';
import { startMcpCluster } from './cluster.ts';
import { connectAiSdk } from '../../clients/mcp/drivers/ai-sdk.ts';
import type { Connect, Driver } from '../../clients/mcp/drivers/driver.ts';
import { connectRawHttp } from '../../clients/mcp/drivers/raw-http.ts';
import { connectMcpRemote } from '../../clients/mcp/drivers/mcp-remote.ts';
import { connectNegotiatingSdk, connectPinnedSdk } from '../../clients/mcp/drivers/stateless-sdk.ts';
import { connectSdk } from '../../clients/mcp/drivers/sdk.ts';
import { runInspector } from '../../clients/mcp/inspector.ts';
import { isNightly } from '../../support/extent.ts';
import { stopAfterTest, use } from '../../support/use.ts';

const cluster = use(startMcpCluster);

/** A person with an agent, whose client is under test; and a stranger who accepts messages from contacts only. */
async function createStoryAgents(connect: Connect) {
  const ada = await signInPerson(cluster);
  const { token, handle } = await ada.agent('helper', { audience: 'mcp' });
  const stranger = await cluster.agent({ audience: 'mcp', inbound_policy: 'contacts_only' });
  const questions: string[] = [];
  const client = stopAfterTest(
    await connect({
      url: cluster.url,
      token,
      onElicitation: (requested) => void questions.push(`form: ${requested}`),
    }),
  );

  /** Approves in the form that the client shows; if it shows none, on the page that the response names. */
  async function withConsent(name: string, args: Record<string, unknown>) {
    const first = await client.call(name, args);
    if (first.error['code'] !== 'APPROVAL_REQUIRED') return first;
    const page = await ada.go(String(first.error['approval_url']));
    questions.push(`page: ${page.visibleText}`);
    const decided = await ada.send(findForm(page, new URL(page.url).pathname), { button: 'approve' });
    expect(decided.visibleText).toContain('Until then you can undo it.');
    expect(await applyStoredDecisions(cluster)).toEqual([]);
    return client.call(name, args);
  }
  return {
    client,
    handle,
    questions,
    withConsent,
    stranger: {
      handle: stranger.handle,
      async call(name: string, args: object) {
        const { isError, value, text } = await callToolRaw(cluster.url, stranger.token, name, args);
        expect(isError, text).toBe(false);
        return value;
      },
    },
  };
}

async function callSuccessfully(client: Driver, name: string, args: Record<string, unknown> = {}) {
  const { isError, value } = await client.call(name, args);
  expect(isError, JSON.stringify(value)).toBe(false);
  return value;
}

/** Runs the whole approval flow with one client. */
async function testStory(connect: Connect, asks: 'form' | 'page'): Promise<void> {
  const { client, handle, stranger, questions, withConsent } = await createStoryAgents(connect);

  const { agents } = await callSuccessfully(client, 'search_agents', { q: stranger.handle });
  expect(agents).toContainEqual(expect.objectContaining({ canonical_handle: stranger.handle }));
  const refused = await client.call('create_thread', { with_handle: stranger.handle });
  expect(refused).toMatchObject({ isError: true });

  const requested = await withConsent('request_contact', {
    handle: stranger.handle,
    message: 'May I write?',
  });
  expect(requested, JSON.stringify(requested.value)).toMatchObject({ isError: false });
  expect(questions).toEqual([expect.stringMatching(new RegExp(`^${asks}: .*@${stranger.handle}`))]);
  const { requests } = await stranger.call('list_contact_requests', {});
  const [wish] = Object(requests);
  await stranger.call('respond_to_contact_request', { request_id: wish.request_id, decision: 'approve' });

  const thread = await callSuccessfully(client, 'create_thread', {
    with_handle: stranger.handle,
    subject: 'A story',
  });
  const thread_id = String(thread['id']);
  const file = await callSuccessfully(client, 'upload_attachment', {
    filename: 'story.txt',
    content: Buffer.from('Once upon a time').toString('base64'),
    idempotency_key: `${handle}-uploads`,
  });
  const { cursor } = await callSuccessfully(client, 'wait_for_events', { wait_seconds: 0, limit: 100 });
  const sent = await callSuccessfully(client, 'send_message', {
    thread_id,
    content: 'Here is a story. Do you like it?',
    attachment_ids: [file['id']],
    idempotency_key: `${handle}-sends`,
  });
  expect(sent).toMatchObject({ sequence: 1 });

  const waiting = callSuccessfully(client, 'wait_for_events', { cursor, types: ['message.created'] });
  await stranger.call('send_message', { thread_id, content: 'I do.' });
  expect(await waiting).toMatchObject({
    events: [{ type: 'message.created', data: { content: 'I do.' }, relationship: 'contact' }],
  });

  expect(await client.read(`service://threads/${thread_id}`)).toMatchObject({
    messages: [{ relationship: 'self', attachments: [{ id: file['id'] }] }, { content: 'I do.' }],
  });
  expect(await client.read('service://contacts')).toMatchObject({
    contacts: [{ canonical_handle: stranger.handle }],
  });
  const names = ['contact_added', 'thread_created', 'message_created'];
  const expected = names.map((name) => `notifications/service/${name}`);
  if (client.notified) {
    await expect.poll(client.notified).toEqual(expect.arrayContaining(expected));
  }
}

test('with the client of the AI SDK', () => testStory(connectAiSdk, 'form'));
test('through mcp-remote, as a separate program', () => testStory(connectMcpRemote, 'form'));

if (isNightly) {
  test('with the client of the MCP SDK', () => testStory(connectSdk, 'form'));

  test('with the second MCP SDK, pinned to 2026-07-28', () => testStory(connectPinnedSdk, 'form'));

  test('with the second MCP SDK, which negotiates', () => testStory(connectNegotiatingSdk, 'form'));

  test('with a client of 2024-11-05 that accepts plain JSON and declares few capabilities', () =>
    testStory(connectRawHttp, 'page'));

  test('the command line of the inspector lists, calls and reads', async () => {
    const { token } = await cluster.agent({ audience: 'mcp' });
    const other = await cluster.agent({ audience: 'mcp' });
    const ask = runInspector({ url: cluster.url, token });
    const call = (name: string, ...args: string[]) =>
      ask('tools/call', '--tool-name', name, ...args.flatMap((arg) => ['--tool-arg', arg]));
    const made = await call('create_thread', `with_handle=${other.handle}`, 'subject=From a shell');
    const { id } = Object(made['structuredContent']);
    const [tools, resources, list, read] = await Promise.all([
      ask('tools/list'),
      ask('resources/list'),
      call('list_threads', 'limit=1'),
      ask('resources/read', '--uri', `service://threads/${id}`),
    ]);
    expect(tools).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'whoami' })]),
    });
    expect(resources).toMatchObject({
      resources: expect.arrayContaining([expect.objectContaining({ uri: 'service://contacts' })]),
    });
    expect(list).toMatchObject({ structuredContent: { threads: [{ id, subject: 'From a shell' }] } });
    const [content] = Array.isArray(read['contents']) ? read['contents'] : [];
    expect(JSON.parse(content.text)).toMatchObject({ thread: { id }, messages: [] });
  });
}
