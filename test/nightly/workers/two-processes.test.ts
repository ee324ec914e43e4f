import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { requestRest } from '../../clients/rest.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { startTestCluster, startConversation } from '../../support/cluster/cluster.ts';
import { followMessages } from '../../clients/message-follower.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { backends } from '../../support/service.ts';

await describeWithRedis('two API processes and two workers', () => {
  test.each(backends)(
    'the receiver continues at the other process when one of each is killed (%s)',
    async (backend) => {
      const cluster = await startTestCluster(backend);
      const [senders, receivers, worker] = await Promise.all([
        cluster.startApi(),
        cluster.startApi(),
        cluster.startWorker(),
        cluster.startWorker(),
      ]);
      const talk = await startConversation(cluster.core, senders.url);
      // Its second connection uses the second address.
      const follower = await followMessages(talk.members[1], () => [receivers.url, senders.url]);
      const load = startMessageLoad(talk, () => [senders.url]);
      await load.waitForMore(100);
      await follower.waitUntil(50);
      await receivers.kill9();
      await load.waitForMore(50);
      await worker.kill9();
      await load.waitForMore(50);
      await load.finish();
      await follower.waitUntil(load.acknowledged.length);
      expect(follower.connections()).toBe(2);
      expect(follower.repeated()).toBe(0);
      const sent = load.acknowledged.toSorted((one, other) => one.sequence - other.sequence);
      expect(follower.messages()).toEqual(sent.map(({ id }) => id));
      load.expectNoErrors();
      await expectExactlyOnce({ core: cluster.core, url: senders.url }, talk, load.acknowledged);
    },
  );

  test('a hundred identical sends with one key to both: one message, a hundred identical responses', async () => {
    const cluster = await startTestCluster('redis');
    const [one, other] = await Promise.all([cluster.startApi(), cluster.startApi(), cluster.startWorker()]);
    const talk = await startConversation(cluster.core, one.url);
    const { token } = talk.members[0];
    const key = randomUUID();
    const content = 'once';
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const { url } = index % 2 === 0 ? one : other;
        return requestRest('POST', `${url}/v1/threads/${talk.thread_id}/messages`, {
          token,
          key,
          body: { content },
        });
      }),
    );
    const [first] = answers;
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(first?.status).toBe(201);
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
    expect(replayed).toHaveLength(99);
    const { id, sequence } = first?.body ?? {};
    await expectExactlyOnce({ core: cluster.core, url: other.url }, talk, [{ id, sequence, content }]);
  });
});
