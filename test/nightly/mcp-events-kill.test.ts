import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { scopes } from '../../packages/core/src/domain/auth/scopes.ts';
import { startEventFollower } from '../clients/mcp/event-follower.ts';
import { pollEvents } from '../clients/mcp/events.ts';
import { askStateless } from '../clients/mcp/stateless-request.ts';
import { requestRest } from '../clients/rest.ts';
import { startTestCluster } from '../support/cluster/cluster.ts';
import { buildAgent, issueTokenFor } from '../support/service.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';
import { listen } from '../support/servers/listen.ts';

const name = 'message.created';
const total = 10_000;
const pushed = 2_000;
const batch = 50;
/** API processes are killed after each of this many messages. */
const killEvery = 1_000;
const waitOptions = { timeout: 300_000, interval: 250 };

await describeWithRedis('clients of Events while processes are killed', () => {
  test('a worker killed during a request leaves every event to the next one, in order', async () => {
    const cluster = await startTestCluster('redis');
    const env = { WEBHOOK_NETWORKS: '127.0.0.0/8', EVENTS_HOLD_SECONDS: '0' };
    const api = await cluster.startApi(env);
    let worker = await cluster.startWorker(env);
    const receiver = await startChallengedReceiver();
    onTestFinished(() => receiver.close());
    const ann = await buildAgent(cluster.core, { scopes });
    const bob = await buildAgent(cluster.core, { scopes });
    const { body: thread } = await requestRest('POST', `${api.url}/v1/threads`, {
      token: ann.token,
      body: { with_handle: bob.handle },
    });
    const token = await issueTokenFor(cluster.core, bob.handle, { audience: 'mcp', expires_in: 900 });
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const delivery = { mode: 'webhook', url: receiver.url, secret };
    const params = { name, cursor: null, delivery };
    const subscribed = await askStateless(api.url, token, { method: 'events/subscribe', params });
    expect(subscribed.error).toBeUndefined();
    const sent: string[] = [];
    for (let n = 0; n < pushed; n += batch) {
      const path = `${api.url}/v1/threads/${thread.id}/messages:batch`;
      const messages = Array.from({ length: batch }, (_, index) => ({ content: `message ${n + index}` }));
      const answer = await requestRest('POST', path, { token: ann.token, body: { messages } });
      expect(answer.status).toBe(200);
      sent.push(...messages.map(({ content }) => content));
    }
    for (const part of [0.2, 0.5]) {
      await expect.poll(() => receiver.accepted.length, waitOptions).toBeGreaterThan(pushed * part);
      await worker.kill9();
      worker = await cluster.startWorker(env);
    }
    await expect.poll(() => new Set(receiver.accepted).size, waitOptions).toBe(pushed);
    expect([...new Set(receiver.accepted)]).toEqual(sent);
  }, 600_000);

  test(`none of ${total} events is lost or unmarked`, async () => {
    const cluster = await startTestCluster('redis');
    const processes = [await cluster.startApi(), await cluster.startApi()];
    await cluster.startWorker();
    const ann = await buildAgent(cluster.core, { scopes });
    const bob = await buildAgent(cluster.core, { scopes });
    const stable = await cluster.startApi();
    const thread = await requestRest('POST', `${stable.url}/v1/threads`, {
      token: ann.token,
      body: { with_handle: bob.handle },
    });
    const token = await issueTokenFor(cluster.core, bob.handle, { audience: 'mcp', expires_in: 900 });
    const { cursor } = await pollEvents(stable.url, token, { name, cursor: null });
    let turn = 0;
    const followers = (['poll', 'stream'] as const).map((mode) =>
      startEventFollower({
        url: () => processes[(turn += 1) % processes.length]?.url ?? '',
        token,
        mode,
        name,
        cursor,
        failureRate: 0.002,
      }),
    );
    const sent: string[] = [];
    for (let n = 0; n < total; n += batch) {
      const messages = Array.from({ length: batch }, (_, index) => ({ content: `message ${n + index}` }));
      const path = `${stable.url}/v1/threads/${thread.body.id}/messages:batch`;
      const answer = await requestRest('POST', path, { token: ann.token, body: { messages } });
      expect(answer.status).toBe(200);
      sent.push(...answer.body.results.map((result: { message: { id: string } }) => result.message.id));
      if (n % killEvery !== 0) continue;
      const victim = (n / killEvery) % processes.length;
      await processes[victim]?.kill9();
      processes[victim] = await cluster.startApi();
    }
    for (const follower of followers) {
      await expect.poll(() => follower.seen().size, waitOptions).toBe(total);
      const report = await follower.stop();
      expect(report.truncated).toBe(0);
      expect(report.deaths).toBeGreaterThan(0);
    }
    const [polled, streamed] = followers.map((follower) => [...follower.seen()]);
    expect(streamed).toEqual(polled);
    expect(new Set(sent).size).toBe(total);
  }, 900_000);
});

/** Answers challenges, and keeps the text of every message, also of repeated ones. */
async function startChallengedReceiver() {
  const accepted: string[] = [];
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { challenge, data, type } = (await json(request)) as {
      challenge?: string;
      type?: string;
      data?: { content: string };
    };
    if (challenge === undefined) accepted.push(data?.content ?? String(type));
    response.end(JSON.stringify({ challenge }));
  }
  const server = createServer((request, response) => void receive(request, response));
  return { accepted, ...(await listen(server)) };
}
