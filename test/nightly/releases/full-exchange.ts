import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { requestRest } from '../../clients/rest.ts';
import { buildAgent, issueTokenFor } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import type { Deployment } from '../support/deployment.ts';
import type { Release } from './previous-release.ts';

const waitOptions = { timeout: 60_000, interval: 100 };

/**
 * Two agents and an MCP client use every kind of operation once, through one process of a service.
 * @param previous the release of the process, if it is the previous one
 */
export async function runFullExchange(
  { core, env }: Deployment,
  url: string,
  previous?: Pick<Release, 'createAgent'>,
): Promise<void> {
  const api = `${url}/v1`;
  const otherRelease = previous !== undefined;
  async function createAgent(inbound_policy: 'open' | 'contacts_only') {
    if (!previous) return buildAgent(core, { inbound_policy });
    const handle = `old-${randomUUID().slice(0, 13)}.agent`;
    previous.createAgent(env, { handle, inbound_policy });
    return { handle, token: await issueTokenFor(core, handle) };
  }
  const [ada, bob] = [await createAgent('open'), await createAgent('contacts_only')];
  const post = (path: string, token: string, body: object) =>
    requestRest('POST', api + path, { token, body, otherRelease });
  const get = (path: string, token: string) => requestRest('GET', api + path, { token, otherRelease });

  const socket = await connectWebSocket(url, { token: bob.token, otherRelease });
  expect(await post('/contacts/requests', ada.token, { handle: bob.handle })).toMatchObject({ status: 201 });
  const approval = await post(`/contacts/requests/${ada.handle}/approve`, bob.token, {});
  expect(approval.status, approval.text).toBe(200);

  const word = `w${randomUUID().replaceAll('-', '')}`;
  const opening = { with_handle: bob.handle, subject: 'Two releases', initial_message: `First ${word}` };
  const opened = await post('/threads', ada.token, opening);
  expect(opened.status, opened.text).toBe(201);
  const thread = `/threads/${opened.body.id}`;
  const received = await socket.next(({ type }) => type === 'message.created');
  expect(received.data).toMatchObject({ content: opening.initial_message });

  const key = randomUUID();
  const answer = { content: `Second ${word}`, metadata: { of: 'two' } };
  const sending = { token: bob.token, key, body: answer, otherRelease };
  const send = () => requestRest('POST', `${api}${thread}/messages`, sending);
  const sent = await send();
  expect(sent.status, sent.text).toBe(201);
  expect((await send()).body).toEqual(sent.body);
  expect((await post(`${thread}/read`, ada.token, { up_to_sequence: 2 })).status).toBeLessThan(300);

  const file = await upload(api, ada.token);
  const withFile = { content: `Third ${word}`, attachment_ids: [file] };
  expect(await post(`${thread}/messages`, ada.token, withFile)).toMatchObject({ status: 201 });
  const content = () => get(`/attachments/${file}/content`, bob.token);
  // The file, once a worker has scanned it.
  await vi.waitFor(async () => expect((await content()).status).toBeLessThan(400), waitOptions);

  await vi.waitFor(async () => {
    const found = await get(`/messages/search?q=${word}`, bob.token);
    expect(found.body.results).toHaveLength(3);
  }, waitOptions);
  const token = await issueTokenFor(core, bob.handle, { audience: 'mcp' });
  await sendWithTools({ url, token, otherRelease }, opened.body.id);
  await socket.waitUntil(() => socket.events().filter(({ type }) => type === 'message.created').length >= 3);
  await socket.close();
  const page = await get(`/events?cursor=${socket.ready.cursor}`, bob.token);
  expect(page.body.events.length).toBeGreaterThanOrEqual(socket.events().length);
  expect((await get('/threads', ada.token)).body.threads[0]).toMatchObject({ last_sequence: 4 });
}

/** Uploads a text and returns its id. */
async function upload(api: string, token: string): Promise<string> {
  const body = new FormData();
  body.set('file', new Blob(['kept by two releases\n'], { type: 'text/plain' }), 'notes.txt');
  const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': randomUUID() };
  const response = await fetch(`${api}/attachments`, { method: 'POST', headers, body });
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

/** An MCP client that reads, replies and waits. */
async function sendWithTools(
  { url, token, otherRelease }: { url: string; token: string; otherRelease: boolean },
  thread_id: string,
): Promise<void> {
  const { client, close } = await connectSdkClient(url, token, { otherRelease });
  const call = async (name: string, args: object) => {
    const result = await client.callTool({ name, arguments: { ...args } });
    expect(result.isError, JSON.stringify(result)).not.toBe(true);
    return result.structuredContent;
  };
  expect(await call('list_threads', {})).toMatchObject({ threads: [{ id: thread_id }] });
  await call('send_message', { thread_id, content: 'Fourth', idempotency_key: randomUUID() });
  expect(await call('wait_for_events', { wait_seconds: 0 })).toHaveProperty('cursor');
  await close();
}
