import { expect, test } from 'vitest';
import { followMessages } from '../../clients/message-follower.ts';
import { requestRest } from '../../clients/rest.ts';
import { inboxOf } from '../../integration/inbox/setup.ts';
import { parseMetrics } from '../../integration/ops/scrape.ts';
import { startConversation, startTestCluster } from '../../support/cluster/cluster.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { buildAgent } from '../../support/service.ts';
import { jumpingClock } from '../../support/shifted-clock.ts';
import { readPid } from './process-limits.ts';

const hourMs = 3_600_000;

await describeWithRedis('the clock of a machine is set', () => {
  test.each([hourMs, -hourMs])(
    'by %i ms under load: tokens, sockets, leases and waits do not notice',
    async (ms) => {
      const cluster = await startTestCluster('redis');
      const env = jumpingClock(ms);
      const processes = await Promise.all([cluster.startApi(env), cluster.startWorker(env)]);
      const [api, worker] = processes;
      const talk = await startConversation(cluster.core, api.url);
      const idle = await buildAgent(cluster.core);
      const [asker, helper] = [await buildAgent(cluster.core), await buildAgent(cluster.core)];
      const inbox = inboxOf(`${api.url}/v1`, helper);
      await inbox.turnOn({ max_attempts: 1 });
      const question = { participants: [helper.handle], initial_message: 'Hello?' };
      await requestRest('POST', `${api.url}/v1/threads`, { token: asker.token, body: question });
      const follower = await followMessages(talk.members[1], () => [api.url]);
      const load = startMessageLoad(talk, () => [api.url]);
      await load.waitForMore(50);
      const [lease] = await inbox.leases({ lease_seconds: 60 });
      const path = `${api.url}/v1/events?wait=3`;
      const wait = requestRest('GET', path, { token: idle.token });

      for (const each of processes) process.kill(readPid(each), 'SIGUSR2');
      await expect
        .poll(() => api.log())
        .toMatch(/"level":40.*the clocks of this machine and of the database differ/);
      await expect.poll(() => worker.log()).toMatch(/"level":40.*the clocks of this machine/);
      await load.waitForMore(100);
      expect((await wait).status).toBe(200);
      expect((await requestRest('GET', path, { token: idle.token })).status).toBe(200);
      expect((await inbox.acknowledge(lease?.id ?? '')).status).toBe(200);
      expect((await inbox.get()).body).toMatchObject({ dead: 0 });
      const scrape = async () => parseMetrics(await (await fetch(`${api.url}/metrics`)).text());
      const shown = async () => (await scrape()).value('ams_clock_difference_seconds');
      await expect.poll(async () => Math.round((await shown()) ?? 0)).toBe(-ms / 1_000);

      // Without wake-ups, events arrive because the process polls.
      await cluster.redis.kill9();
      await load.waitForMore(100);
      await load.finish();
      load.expectNoErrors();
      await follower.waitUntil(load.acknowledged.length);
      expect([follower.repeated(), follower.connections()]).toEqual([0, 1]);
      await cluster.redis.restart();
      await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
    },
  );
});
