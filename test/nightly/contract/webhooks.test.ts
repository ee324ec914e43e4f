import { expect } from 'vitest';
import { verifyWebhook } from '../../../packages/client/src/main.ts';
import { requestRest } from '../../clients/rest.ts';
import {
  type ReceivedPost,
  respondWith,
  startWebhookReceiver,
} from '../../support/servers/webhook-receiver.ts';
import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';
import { use } from '../../support/use.ts';

startBothServices();

const receiver = use(startWebhookReceiver);

const scopes = ['agents:read', 'agents:write', 'threads:read', 'contacts:read'] as const;
const waitUntil = <T>(read: () => T) => expect.poll(read, { interval: 25 });

interface Delivery {
  id: string;
  state: string;
  attempts: number;
}

/** Two agents with a thread; the second one has a webhook for messages. */
async function startPosting(world: World) {
  const ann = await world.agent('ann');
  const { token } = await world.agent('bob', { scopes });
  const bob = (method: string, path: string, body?: object) =>
    world.request('bob', method, `/v1/webhooks${path}`, { ...(body && { body }) });
  const path = `/${world.handle('bob')}`;
  const created = await bob('POST', '', {
    url: `${receiver.url}${path}`,
    event_types: ['message.created'],
  });
  const { id, secret } = created.body as { id: string; secret: string };
  const opened = await world.request('ann', 'POST', '/v1/threads', {
    body: { with_handle: world.handle('bob') },
  });
  const thread = `/v1/threads/${opened.body.id}`;
  const posts = (): ReceivedPost[] => receiver.postsAt(path);
  let sent = 0;
  /** Not in the transcript. */
  const look = async (rest: string) =>
    (await requestRest('GET', `${world.url}/v1/webhooks/${id}${rest}`, { token })).body;
  const read = async (): Promise<Delivery[]> => (await look('/deliveries')).deliveries;
  return {
    ann,
    thread,
    posts,
    bob: (method: string, rest = '', body?: object) => bob(method, `/${id}${rest}`, body),
    /** Sends a message, and waits until its delivery is in the state. */
    async send(content: string, state: string): Promise<string> {
      await world.request('ann', 'POST', `${thread}/messages`, { body: { content } });
      sent += 1;
      await waitUntil(async () => {
        const deliveries = await read();
        return { sent: deliveries.length, state: deliveries[0]?.state, attempts: deliveries[0]?.attempts };
      }).toEqual({ sent, state, attempts: 1 });
      return (await read())[0]?.id ?? '';
    },
    isEnabled: async (): Promise<boolean> => (await look('')).enabled,
    /** Waits until the newest delivery is in the state. */
    wait: (state: string) => waitUntil(async () => (await read())[0]?.state).toBe(state),
    async verify(post: ReceivedPost | undefined, key = secret): Promise<void> {
      if (!post) throw new Error('nothing was posted');
      world.note(await verifyWebhook(post.text, post.headers, key));
      expect(post.headers['webhook-id']).toBe(post.json.id);
      world.note(String(post.headers['webhook-signature']).split(' ').length);
    },
  };
}

sameAnswers('webhooks are created, changed, listed and deleted', async (world) => {
  await world.agent('ann', { scopes });
  await world.agent('bob', { scopes });
  const ann = (method: string, path: string, body?: object) =>
    world.request('ann', method, `/v1/webhooks${path}`, { ...(body && { body }) });
  await ann('GET', '');
  const url = `${receiver.url}/unused`;
  const { id } = (await ann('POST', '', { url, description: 'One', only_when_offline: true })).body;
  for (const refused of [
    {},
    { url: 'nowhere' },
    { url: 'ftp://127.0.0.1/' },
    { url: 'http://a:b@127.0.0.1/' },
    { url: `${url}#part` },
    { url, event_types: [] },
    { url, event_types: ['message.created', 'message.created'] },
    { url, event_types: ['no.such'] },
    { url, description: 'x'.repeat(201) },
    { url, other: 1 },
  ])
    await ann('POST', '', refused);
  await ann('PATCH', `/${id}`, {});
  await ann('PATCH', `/${id}`, { description: 'Two', event_types: ['contact.request'], enabled: false });
  await ann('PATCH', `/${id}`, { enabled: false });
  await ann('POST', `/${id}/replay`, { since: 0 });
  await ann('POST', `/${id}/replay`, { since: -1 });
  await ann('PATCH', `/${id}`, { enabled: true, event_types: null });
  await ann('POST', `/${id}/rotate-secret`);
  await ann('GET', `/${id}`);
  await ann('GET', `/${id}/deliveries?state=other`);
  await ann('GET', `/${id}/deliveries?limit=1&state=failed`);
  await ann('POST', `/${id}/deliveries/evt_1/replay`);
  for (const path of ['', '/deliveries']) await world.request('bob', 'GET', `/v1/webhooks/${id}${path}`);
  for (const path of ['/test', '/rotate-secret'])
    await world.request('bob', 'POST', `/v1/webhooks/${id}${path}`);
  await world.request('bob', 'DELETE', `/v1/webhooks/${id}`);
  await ann('DELETE', `/${id}`);
  await ann('DELETE', `/${id}`);
  await ann('GET', '');
});

sameAnswers('webhooks are limited in number, and by the scopes of the token', async (world) => {
  await world.agent('ann', { scopes });
  const url = `${receiver.url}/unused`;
  const token = await world.token('ann', ['agents:read', 'agents:write', 'contacts:read']);
  const narrow = (body: object) => world.request(null, 'POST', '/v1/webhooks', { token, body });
  await narrow({ url, event_types: ['contact.request', 'message.created'] });
  const { id } = (await narrow({ url })).body;
  await world.request(null, 'PATCH', `/v1/webhooks/${id}`, {
    token,
    body: { event_types: ['message.created'] },
  });
  const basic = await world.token('ann', ['threads:read']);
  await world.request(null, 'POST', '/v1/webhooks', { token: basic, body: { url } });
  const key = crypto.randomUUID();
  for (const description of ['one', 'one', 'two'])
    await world.request('ann', 'POST', '/v1/webhooks', { key, body: { url, description } });
  for (const description of ['3', '4', '5', '6', '7', '8', '9', '10', '11'])
    await world.request('ann', 'POST', '/v1/webhooks', { body: { url, description } });
  await world.request(null, 'GET', '/v1/webhooks', { token: basic });
});

sameAnswers('events are posted, signed, and counted as delivered', async (world) => {
  const { ann, thread, bob, send, posts, verify } = await startPosting(world);
  await send('one', 'delivered');
  await verify(posts()[0]);
  const rotated = await bob('POST', '/rotate-secret');
  await send('two', 'delivered');
  await verify(posts()[1]);
  await verify(posts()[1], rotated.body.secret);
  await expect(verify(posts()[1], `whsec_${btoa('another secret')}`)).rejects.toMatchObject({
    code: 'INVALID_WEBHOOK',
  });
  await bob('GET', '/deliveries');
  const first = await bob('GET', '/deliveries?limit=1');
  await bob('GET', `/deliveries?limit=1&cursor=${encodeURIComponent(first.body.next_cursor)}`);
  await waitUntil(async () => {
    const { receipts } = (await requestRest('GET', `${world.url}${thread}/receipts`, ann)).body;
    return receipts;
  }).toContainEqual(expect.objectContaining({ delivered_up_to_sequence: 2 }));
});

sameAnswers('a test event is posted at once', async (world) => {
  const { bob, posts, verify } = await startPosting(world);
  await bob('POST', '/test');
  await verify(posts()[0]);
  receiver.setHandler(respondWith(404));
  await bob('PATCH', '', { enabled: false });
  await bob('POST', '/test');
  receiver.setHandler(respondWith(204));
  await bob('GET', '/deliveries');
});

sameAnswers('failed deliveries are sent again, until the receiver is gone', async (world) => {
  const { bob, send, wait, posts, isEnabled } = await startPosting(world);
  receiver.setHandler(respondWith(503));
  const one = await send('one', 'pending');
  await bob('GET', '/deliveries?state=pending');
  receiver.setHandler(respondWith(204));
  await bob('POST', `/deliveries/${one}/replay`);
  await wait('delivered');
  await bob('GET', '/deliveries');
  receiver.setHandler(respondWith(410));
  await send('two', 'failed');
  await waitUntil(isEnabled).toBe(false);
  await bob('GET');
  await bob('POST', '/replay', { since: 0 });
  receiver.setHandler(respondWith(204));
  await bob('PATCH', '', { enabled: true });
  await bob('POST', '/replay', { since: 0 });
  await wait('delivered');
  await bob('GET', '/deliveries');
  world.note(posts().map(({ json }) => json.data.content));
});
