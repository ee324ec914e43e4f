import { setMaxListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createCounter } from '../../../bench/load/tally.ts';
import type { Options } from '../../../bench/options.ts';
import { ejabberd } from '../../../bench/peers/ejabberd/server.ts';
import { measureIdle } from '../../../bench/peers/idle.ts';
import { sendInPairs, sendSteadilyInPairs, sendToGroup } from '../../../bench/peers/loads.ts';
import { lossPairs, measureLosses } from '../../../bench/peers/losses.ts';
import { nats } from '../../../bench/peers/nats.ts';
import type { Peer } from '../../../bench/peers/peer.ts';
import { redisStreams } from '../../../bench/peers/redis-streams.ts';
import { type Bench, runMeasurement } from '../../../bench/start/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

/** The loads of `npm run bench -- peers`, for a second each. */
describe.each([ejabberd, nats, redisStreams].map((kind) => ({ kind, name: kind.name })))(
  '$name',
  ({ kind }) => {
    const command = kind.findMissing();
    const missing = command === null ? undefined : `${kind.name} is not installed (${command})`;
    const failures: Error[] = [];
    const { signal } = new AbortController();
    setMaxListeners(0, signal); // every wait adds a listener
    const nextNumber = createCounter();
    const options = { seconds: 1, warmUp_s: 0, nextNumber, signal };
    const pairs = 8;
    const noFaults = { lost: 0, duplicated: 0, reordered: 0 };

    function withPeer(run: (peer: Peer, bench: Bench) => Promise<void>): Promise<void> {
      const fail = (reason: Error) => failures.push(reason);
      const parts = { options: {} as Options, log: () => undefined, signal, fail };
      return runMeasurement(parts, async (bench) => {
        const [peer] = await kind.start(bench, { pairs: 32 + lossPairs, members: 10, idle: 64 });
        if (!peer) throw new Error(`${kind.name} did not start`);
        await run(peer, bench);
        expect(failures).toEqual([]);
      });
    }

    describeUnless(missing, 'beside the service', () => {
      test('delivers and stores every message once and in order', () =>
        withPeer(async (peer) => {
          const closed = await sendInPairs(peer, pairs, options);
          const steady = await sendSteadilyInPairs(peer, 50, options);
          const group = await sendToGroup(peer, 10, 20, options);
          expect([closed, steady, group].map(({ faults }) => faults)).toEqual([noFaults, noFaults, noFaults]);
          const sent = closed.sent + steady.sent + group.sent;
          expect(sent).toBe(nextNumber());
          await expect.poll(() => peer.countStored(0, sent - 1)).toBe(sent);
          expect(peer.readCpuMs()).toBeGreaterThan(0);
        }));

      test('keeps idle connections', () =>
        withPeer(async (peer) => {
          const { connects_per_s, marginal_kb } = await measureIdle(peer, 64, signal);
          expect(connects_per_s).toBeGreaterThan(0);
          expect(Number.isFinite(marginal_kb)).toBe(true);
        }));

      test('is killed and started again with its messages', () =>
        withPeer(async (peer, bench) => {
          const losses = await measureLosses(bench, kind.name, peer, {
            firstPair: 32,
            first: 1_000_000,
            kills: 1,
          });
          expect(Object.keys(losses ?? {})).toEqual(['server', 'client', 'both']);
          if (kind === nats) expect(losses).toEqual({ server: noFaults, client: noFaults, both: noFaults });
          if (kind === redisStreams) expect(losses?.server.lost).toBe(0);
        }));
    });
  },
);
