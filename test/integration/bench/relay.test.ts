import { beforeAll, expect, test } from 'vitest';
import { sendInPairs, sendSteadilyInPairs, sendToGroup } from '../../../bench/peers/loads.ts';
import type { Peer } from '../../../bench/peers/peer.ts';
import { createRelayPeer } from '../../../bench/peers/relay.ts';
import { startRelayServer } from '../../../bench/peers/relay-server.ts';
import { createCounter } from '../../../bench/load/tally.ts';
import { use } from '../../support/use.ts';

/** The loads of `npm run bench -- peers` on the relay, for a moment each. */
const server = use(startRelayServer);
let peer: Peer;
const failures: Error[] = [];
const abort = new AbortController();
const options = { seconds: 0.2, warmUp_s: 0, nextNumber: createCounter(), signal: abort.signal };
const noFaults = { lost: 0, duplicated: 0, reordered: 0 };

beforeAll(async () => {
  const relay = { base: `http://127.0.0.1:${server.port}`, pid: process.pid };
  peer = createRelayPeer(relay, { signal: abort.signal, fail: (reason) => failures.push(reason) });
});

test('pairs send one message after the other, and each one is counted', async () => {
  const result = await sendInPairs(peer, 8, options);
  expect(result.faults).toEqual(noFaults);
  expect(result.sent).toBeGreaterThan(8);
  expect(result.per_s).toBeGreaterThan(0);
  expect(failures).toEqual([]);
});

test('the delay of each message is recorded at a steady rate', async () => {
  const result = await sendSteadilyInPairs(peer, 200, options);
  expect(result.faults).toEqual(noFaults);
  expect([result.sent, result.delays.length]).toEqual([40, 40]);
});

test('a group receives every message at every member, in one order', async () => {
  const result = await sendToGroup(peer, 5, 50, options);
  expect(result.faults).toEqual(noFaults);
  expect(result.delays).toHaveLength(50);
  expect(result.sent).toBeGreaterThan(10);
  expect(result.frames_per_s).toBeGreaterThan(0);
});

test('messages that a server drops, repeats or reorders are detected', async () => {
  const lossy: Peer = {
    ...peer,
    async connect(agent, role, onMessage) {
      const held: number[] = [];
      const onFaultyMessage = (number: number) => {
        // The second message arrives before the first one, the fourth one twice.
        if (held.length > 0) onMessage(number);
        if (held.length === 1) onMessage(held[0] ?? -1);
        if (held.length === 3) onMessage(number);
        held.push(number);
      };
      return peer.connect(agent, role, role === 'receiver' ? onFaultyMessage : onMessage);
    },
  };
  const { faults } = await sendSteadilyInPairs(lossy, 32 * 20, options);
  expect(faults).toEqual({ lost: 0, duplicated: 32, reordered: 32 });
});
