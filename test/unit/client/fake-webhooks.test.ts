import { expect, test } from 'vitest';
import { createClient, verifyWebhook } from '../../../packages/client/src/main.ts';
import { fakeService } from '../../../packages/client/src/testing/main.ts';
import type { WebhookReceiver, WebhookRequest } from '../../../packages/client/src/testing/main.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { stopAfterTest } from '../../support/use.ts';

const dayMs = 24 * 3_600_000;
const waitUntil = <T>(read: () => T) => expect.poll(read, { interval: 2 });

/** Two agents with a thread; the second one has a webhook for messages. */
async function startPosting(answer: () => number | Promise<number>, settings: object = {}) {
  const requests: WebhookRequest[] = [];
  const onWebhook: WebhookReceiver = (request) => {
    requests.push(request);
    return answer();
  };
  const service = stopAfterTest(await fakeService({ onWebhook }));
  const asker = service.agent('acme.asker');
  const scopes = ['agents:read', 'agents:write', 'threads:read', 'threads:write'];
  const worker = service.agent('acme.worker', { scopes });
  const asAsker = createClient({ url: service.url, auth: asker.token });
  const { webhooks } = createClient({ url: service.url, auth: worker.token });
  const { id: webhook_id, secret } = await webhooks.create({
    url: 'https://worker.example/events',
    event_types: ['message.created'],
    ...settings,
  });
  const { id: thread_id } = await asAsker.threads.create({ with_handle: worker.handle });
  return {
    service,
    worker,
    requests,
    webhooks,
    webhook_id,
    secret,
    send: (content: string) => asAsker.messages.send({ thread_id, content }),
    show: () => webhooks.get({ webhook_id }),
    deliveries: async () => (await webhooks.listDeliveries({ webhook_id }).page()).deliveries,
  };
}

test('a webhook gets signed events in the process of the test', async () => {
  const { requests, send, secret, deliveries } = await startPosting(() => 204);
  await send('one');
  await waitUntil(deliveries).toMatchObject([{ state: 'delivered', attempts: 1, last_status: 204 }]);
  const [{ url, headers, body } = { url: '', headers: {}, body: '' }] = requests;
  expect(url).toBe('https://worker.example/events');
  expect(await verifyWebhook(body, headers, secret)).toMatchObject({ data: { content: 'one' } });
});

test('a delivery is repeated when the clock moves, and the webhook fails after ten attempts', async () => {
  const { service, requests, send, show, deliveries } = await startPosting(() => 500);
  await send('one');
  await waitUntil(() => requests.length).toBe(1);
  await waitUntil(deliveries).toMatchObject([{ state: 'pending', next_at: service.clock.now() + 5_000 }]);
  service.clock.advance(4_999);
  expect(requests).toHaveLength(1);
  service.clock.advance(1);
  await waitUntil(deliveries).toMatchObject([{ state: 'pending', attempts: 2 }]);
  for (const attempts of [3, 4, 5, 6, 7, 8, 9, 10]) {
    service.clock.advance(dayMs);
    await waitUntil(deliveries).toMatchObject([{ attempts }]);
  }
  expect(await deliveries()).toMatchObject([{ state: 'failed', next_at: null, last_status: 500 }]);
  expect(await show()).toMatchObject({ enabled: false, disabled_reason: 'failing' });
  expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

test('a webhook that accepts other events stays enabled', async () => {
  const answers = [500, 204];
  const { service, requests, send, show, deliveries } = await startPosting(() => answers.shift() ?? 500);
  await send('bad');
  await waitUntil(deliveries).toMatchObject([{ attempts: 1 }]);
  await send('good');
  await waitUntil(deliveries).toMatchObject([{ state: 'delivered' }, { state: 'pending' }]);
  for (const attempts of [2, 3, 4, 5, 6, 7, 8, 9, 10]) {
    service.clock.advance(dayMs);
    await waitUntil(deliveries).toMatchObject([{}, { attempts }]);
  }
  expect(await deliveries()).toMatchObject([{}, { state: 'failed' }]);
  expect(await show()).toMatchObject({ enabled: true });
  expect(requests).toHaveLength(11);
});

test('a receiver that throws is a failed attempt', async () => {
  const { send, deliveries } = await startPosting(() => Promise.reject(new Error('no route')));
  await send('one');
  await waitUntil(deliveries).toMatchObject([{ attempts: 1, last_status: null, last_error: 'no route' }]);
});

test('a webhook for offline times gets nothing while the agent is online', async () => {
  const answers = [500];
  const settings = { only_when_offline: true };
  const start = await startPosting(() => answers.shift() ?? 204, settings);
  const { service, worker, requests, send, deliveries } = start;
  await send('one');
  await waitUntil(deliveries).toMatchObject([{ state: 'pending', attempts: 1 }]);
  const client = await connectWebSocket(service.url, { token: worker.token });
  await send('two');
  service.clock.advance(dayMs);
  await waitUntil(deliveries).toMatchObject([{ state: 'skipped', attempts: 1, next_at: null }]);
  await client.close();
  await send('three');
  await waitUntil(deliveries).toMatchObject([{ state: 'delivered' }, { state: 'skipped' }]);
  expect(requests).toHaveLength(2);
});

test('the previous secret signs for a day', async () => {
  const { service, requests, send, secret, webhooks, webhook_id, deliveries } = await startPosting(() => 204);
  const { secret: second } = await webhooks.rotateSecret({ webhook_id });
  await send('one');
  await waitUntil(deliveries).toMatchObject([{ state: 'delivered' }]);
  service.clock.advance(dayMs);
  await send('two');
  await waitUntil(deliveries).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
  const [one, two] = requests;
  if (!one || !two) throw new Error('nothing was posted');
  for (const key of [secret, second]) await verifyWebhook(one.body, one.headers, key);
  await verifyWebhook(two.body, two.headers, second);
  await expect(verifyWebhook(two.body, two.headers, secret)).rejects.toMatchObject({
    code: 'INVALID_WEBHOOK',
  });
});

test('a disabled webhook abandons what is pending, and a deleted one gets nothing', async () => {
  const held: ((status: number) => void)[] = [];
  const answer = () => new Promise<number>((resolve) => held.push(resolve));
  const { requests, send, webhooks, webhook_id, deliveries } = await startPosting(answer);
  await send('one');
  await waitUntil(() => held.length).toBe(1);
  await webhooks.update({ webhook_id, enabled: false });
  held[0]?.(500);
  expect(await deliveries()).toMatchObject([
    { state: 'failed', attempts: 0, last_error: 'the webhook was disabled' },
  ]);
  await webhooks.update({ webhook_id, enabled: true });
  await webhooks.delete({ webhook_id });
  await send('two');
  expect(requests).toHaveLength(1);
});
