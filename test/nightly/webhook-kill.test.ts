import { expect, onTestFinished, test } from 'vitest';
import { scopes } from '../../packages/core/src/domain/auth/scopes.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';
import { requestRest } from '../clients/rest.ts';
import { buildAgent } from '../support/service.ts';
import { startTestCluster } from '../support/cluster/cluster.ts';
import { startWebhookReceiver, respondWith } from '../support/servers/webhook-receiver.ts';

const messages = 30;
/** The lease of 30 s must expire before the deliveries of a dead worker are sent again. */
const waitOptions = { timeout: 150_000, interval: 250 };

await describeWithRedis('a worker killed with posts under way', () => {
  test('leaves every event to the next one: all arrive, with stable ids', async () => {
    const cluster = await startTestCluster('redis');
    const env = { WEBHOOK_NETWORKS: '127.0.0.0/8' };
    const [api, doomed] = await Promise.all([cluster.startApi(env), cluster.startWorker(env)]);
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    const [ann, bob] = await Promise.all([
      buildAgent(cluster.core, { scopes }),
      buildAgent(cluster.core, { scopes }),
    ]);
    const webhook = await requestRest('POST', `${api.url}/v1/webhooks`, {
      token: bob.token,
      body: { url: receiver.url, event_types: ['message.created'] },
    });
    expect(webhook.status).toBe(201);
    const thread = await requestRest('POST', `${api.url}/v1/threads`, {
      token: ann.token,
      body: { with_handle: bob.handle },
    });

    // The receiver does not respond until the worker is killed, so that deliveries are in progress then.
    receiver.setHandler(() => undefined);
    const sent: string[] = [];
    for (let n = 0; n < messages; n += 1) {
      const path = `${api.url}/v1/threads/${thread.body.id}/messages`;
      const answer = await requestRest('POST', path, { token: ann.token, body: { content: `message ${n}` } });
      expect(answer.status).toBe(201);
      sent.push(answer.body.id);
    }
    await expect.poll(() => receiver.posts.length, waitOptions).toBeGreaterThan(1);
    await doomed.kill9();
    const before = receiver.posts.map(({ headers }) => headers['webhook-id']);
    receiver.setHandler(respondWith(204));
    await cluster.startWorker(env);

    const deliveries = `${api.url}/v1/webhooks/${webhook.body.id}/deliveries?limit=100`;
    const states = async (): Promise<string[]> =>
      (await requestRest('GET', deliveries, { token: bob.token })).body.deliveries.map(
        ({ state }: { state: string }) => state,
      );
    await expect.poll(states, waitOptions).toEqual(sent.map(() => 'delivered'));
    const after = receiver.posts.slice(before.length);
    expect(new Set(after.map(({ json }) => json.data.id))).toEqual(new Set(sent));
    expect(after).toHaveLength(messages);
    const ids = after.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(messages);
    expect(ids).toEqual(expect.arrayContaining(before));
  });
});
