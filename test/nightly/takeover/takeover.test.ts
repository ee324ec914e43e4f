import { expect, onTestFinished, test, vi } from 'vitest';
import { rangeIndexOf } from '../../../packages/core/src/domain/feed/position-ranges.ts';
import { followMessages } from '../../clients/message-follower.ts';
import { readPages, requestRest } from '../../clients/rest.ts';
import { type Conversation, startConversation } from '../../support/cluster/cluster.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import {
  findMissingPatroni,
  startPatroni,
  type PatroniOptions,
} from '../../support/servers/postgres/patroni.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import {
  expectUnavailable,
  type Fault,
  median,
  report,
  runTakeover,
  startServiceOn,
  takeovers,
  expectTakeovers,
} from './measure.ts';
import { findNetworkProblem } from '../../support/servers/postgres/patroni-network.ts';
import { findMountProblem } from '../../support/servers/postgres/small-disk.ts';
import type { Backend } from '../../support/service.ts';

vi.setConfig({ testTimeout: 1_200_000 });

const missing = await findMissingPatroni();
const waitOptions = { timeout: 60_000, interval: 50 };

/** Before the primary is killed, the standby receives nothing for a while. */
const killAhead: Fault = {
  name: 'asynchronous standby: the primary is killed',
  async inject(primary, cluster) {
    const standby = cluster.other(primary);
    await vi.waitFor(async () => {
      // Patroni restores the setting soon.
      await standby.query(`alter system set primary_conninfo = ''`);
      await standby.query('select pg_reload_conf()');
      const { rows } = await standby.query('select pg_last_wal_receive_lsn() as lsn');
      const ahead = await primary.query(`select pg_current_wal_lsn() - '${rows[0].lsn}' > 50000 as ahead`);
      if (!ahead.rows[0].ahead) throw new Error('the standby lacks too little');
    }, waitOptions);
    primary.kill9();
  },
  async repair(old, cluster) {
    await cluster.other(old).query('alter system reset primary_conninfo');
    await cluster.other(old).query('select pg_reload_conf()');
    old.restart();
  },
};

/** The ids of all messages of the thread, in their order. */
async function listMessages(url: string, { thread_id, members }: Conversation): Promise<string[]> {
  const read = (query: string) =>
    requestRest('GET', `${url}/v1/threads/${thread_id}/messages${query}`, { token: members[0].token });
  const messages = await readPages(read, { list: 'messages', limit: 100, filter: '&order=asc' });
  expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, index) => index + 1));
  expect(new Set(messages.map(({ content }) => content)).size).toBe(messages.length);
  return messages.map(({ id }) => id);
}

await describeWithRedis('a PostgreSQL with an asynchronous standby', () => {
  describeUnless(missing, 'under Patroni', () => {
    test('loses acknowledged messages, and tells each reader of them', async () => {
      const patroni = await startPatroni({ isSynchronous: false });
      onTestFinished(() => patroni.stop());
      const { cluster, urls } = await startServiceOn(patroni, 'redis');
      const talk = await startConversation(cluster.core, urls[0]);
      const [, bob, cid] = talk.members;
      const followers = [
        { agent: bob, follower: await followMessages(bob, () => [urls[0]], { mayMiss: true }) },
        { agent: cid, follower: await followMessages(cid, () => [urls[1]], { mayMiss: true }) },
      ];
      const load = startMessageLoad(talk, () => urls);
      const pauses: number[] = [];
      for (let count = 0; count < takeovers; count += 1)
        pauses.push(await runTakeover(patroni, killAhead, load));
      await load.finish();
      expectUnavailable(load);
      const stored = await listMessages(urls[0], talk);
      const kept = new Set(stored);
      const lost = load.acknowledged.filter(({ id }) => !kept.has(id)).length;
      expect(lost).toBeGreaterThan(0);
      for (const { follower, agent } of followers) {
        // Each message that exists arrived once and in order. A reader of lost messages was told.
        await vi.waitFor(
          () => expect(follower.messages().filter((id) => kept.has(id))).toEqual(stored),
          waitOptions,
        );
        expect(follower.repeated()).toBe(0);
        const epochs = follower.events().flatMap(({ type, data, cursor = '' }) => {
          const isLost = type === 'message.created' && !kept.has(String(data?.['id']));
          return isLost ? rangeIndexOf(cluster.core.settings.cursors.decodeFeed(agent.id, cursor)) : [];
        });
        const lossesSeen = new Set(epochs).size;
        expect(lossesSeen).toBeGreaterThan(0);
        // Receipts are lost too, so a gap needs no lost message.
        expect(follower.gaps()).toBeGreaterThanOrEqual(lossesSeen);
        expect(follower.gaps()).toBeLessThanOrEqual(takeovers);
      }
      await vi.waitFor(
        async () => expect((await cluster.core.db.outbox.readAge()).rows).toBe(0),
        waitOptions,
      );
      const written = load.acknowledged.length;
      report([killAhead.name, takeovers, median(pauses), Math.max(...pauses) / 1_000, written, lost, 0, 0]);
    });
  });
});

const networkProblem = await findNetworkProblem();

const mountProblem = await findMountProblem();

async function expectNothingLost(
  fault: Fault,
  options: Partial<PatroniOptions> = {},
  backend: Backend = 'redis',
) {
  const patroni = await startPatroni({ isSynchronous: true, ...options });
  onTestFinished(() => patroni.stop());
  await expectTakeovers(patroni, backend, fault);
}

const kill: Fault = {
  name: 'PostgreSQL and Patroni are killed',
  inject: async (primary) => primary.kill9(),
  repair: async (old) => old.restart(),
};

await describeWithRedis('a PostgreSQL with a synchronous standby loses nothing', () => {
  describeUnless(missing, 'on one machine', () => {
    test('when the primary is killed', () => expectNothingLost(kill));

    test('when the primary is killed, with the queues in PostgreSQL', () =>
      expectNothingLost({ ...kill, name: `${kill.name}, queues in PostgreSQL` }, {}, 'postgres'));

    test('when the primary is frozen, and continues after the takeover', () =>
      expectNothingLost({
        name: 'all processes of the server are frozen',
        inject: async (primary) => primary.freeze(),
        repair: async (old) => old.thaw(),
      }));

    test('when an operator moves the primary', () =>
      expectNothingLost({
        name: 'switchover by hand',
        inject: (_, cluster) => cluster.switchover(),
        repair: async () => undefined,
      }));
  });

  describeUnless(missing ?? networkProblem, 'with a network', () => {
    test('when the network of the primary is cut, and restored after the takeover', () =>
      expectNothingLost(
        {
          name: 'the network of the server is cut',
          inject: (primary) => primary.cutNetwork(),
          repair: (old) => old.restoreNetwork(),
        },
        { hasNetwork: true },
      ));
  });

  describeUnless(missing ?? mountProblem, 'with disks', () => {
    test('when the disk of the write-ahead log of the primary is full', () =>
      expectNothingLost(
        {
          name: 'the disk of the write-ahead log is full',
          inject: (primary) => primary.fillDisk(),
          repair: (old) => old.emptyDisk(),
        },
        { hasSmallDisks: true },
      ));
  });
});
