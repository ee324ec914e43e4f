import { onTestFinished, test, vi } from 'vitest';
import {
  findMissingPatroni,
  type PatroniOptions,
  startPatroni,
} from '../../support/servers/postgres/patroni.ts';
import { findNetworkProblem } from '../../support/servers/postgres/patroni-network.ts';
import { findMountProblem } from '../../support/servers/postgres/small-disk.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import type { Backend } from '../../support/service.ts';
import { expectTakeovers, type Fault } from './measure.ts';

vi.setConfig({ testTimeout: 1_200_000 });

const missing = await findMissingPatroni();
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
