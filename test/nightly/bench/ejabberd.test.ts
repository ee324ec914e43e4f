import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createCounter } from '../../../bench/load/tally.ts';
import type { Options } from '../../../bench/options.ts';
import { findInstallation, installCommand } from '../../../bench/peers/ejabberd/installation.ts';
import { startEjabberd } from '../../../bench/peers/ejabberd/server.ts';
import { measureIdle } from '../../../bench/peers/idle.ts';
import { sendInPairs, sendSteadilyInPairs, sendToGroup } from '../../../bench/peers/loads.ts';
import type { Peer } from '../../../bench/peers/peer.ts';
import { runMeasurement } from '../../../bench/start/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

const installation = findInstallation();
const missing = installation ? undefined : `ejabberd is not installed (${installCommand})`;

/** The loads of `npm run bench -- peers` on ejabberd, for a second each. */
describeUnless(missing, 'ejabberd beside the service', () => {
  const failures: Error[] = [];
  const { signal } = new AbortController();
  setMaxListeners(0, signal); // every wait adds a listener
  const nextNumber = createCounter();
  const options = { seconds: 1, warmUp_s: 0, nextNumber, signal };
  const noFaults = { lost: 0, duplicated: 0, reordered: 0 };

  async function withEjabberd(run: (peer: Peer) => Promise<void>): Promise<void> {
    if (!installation) throw new Error('ejabberd is not installed');
    const fail = (reason: Error) => failures.push(reason);
    const parts = { options: {} as Options, log: () => undefined, signal, fail };
    await runMeasurement(parts, async (bench) => run(await startEjabberd(bench, installation, 64)));
  }

  test('delivers and archives every message once and in order', () =>
    withEjabberd(async (peer) => {
      const pairs = await sendInPairs(peer, 8, options);
      const steady = await sendSteadilyInPairs(peer, 50, options);
      const group = await sendToGroup(peer, 10, 20, options);
      expect([pairs, steady, group].map(({ faults }) => faults)).toEqual([noFaults, noFaults, noFaults]);
      const sent = pairs.sent + steady.sent + group.sent;
      expect([sent, await peer.countStored(0, sent - 1)]).toEqual([nextNumber(), sent]);
      expect(peer.readCpuMs()).toBeGreaterThan(0);
      expect(failures).toEqual([]);
    }));

  test('keeps idle connections', () =>
    withEjabberd(async (peer) => {
      const { connects_per_s, marginal_kb } = await measureIdle(peer, 64, signal);
      expect(connects_per_s).toBeGreaterThan(0);
      expect(Number.isFinite(marginal_kb)).toBe(true);
      expect(failures).toEqual([]);
    }));
});
