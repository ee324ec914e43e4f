import { performance } from 'node:perf_hooks';
import { runLoad } from '../load/run-load.ts';
import { createTally, type Faults, giveUpAfter, type Tally } from '../load/tally.ts';
import type { Connection, Peer } from './peer.ts';

export interface LoadOptions {
  seconds: number;
  warmUp_s: number;
  /** Numbers of the messages of one server, one after the other. */
  nextNumber: () => number;
  signal: AbortSignal;
}

/** What one load measured. */
export interface PeerLoad {
  /** Messages that were sent, with those of the warm-up. */
  sent: number;
  faults: Faults;
}

/** Senders at a steady rate, in turn. */
const steadyPairs = 32;
/** Messages to the group in flight at full speed. */
const groupLanes = 16;

/** Pairs of agents. Each sends one message at a time: the next one when the server has taken it and the partner has it. */
export async function sendInPairs(
  peer: Peer,
  pairs: number,
  { seconds, warmUp_s, nextNumber, signal }: LoadOptions,
): Promise<PeerLoad & { per_s: number; cpu_ms: number | null }> {
  const tally = createTally('by number');
  const { senders, close } = await openPairs(peer, pairs, tally);
  let sent = 0;
  const run = (duration: number) =>
    giveUpAfter(tally, duration, () =>
      runLoad({ lanes: pairs, seconds: duration, signal }, (_, pair) => {
        const number = nextNumber();
        tally.expect(number, { receivers: 1 });
        sent += 1;
        return Promise.all([senders[pair]?.send(number), tally.arrival(number)]);
      }),
    );
  try {
    if (warmUp_s > 0) await run(warmUp_s);
    await peer.waitUntilIdle();
    const before = peer.readCpuMs();
    const result = await run(seconds);
    await peer.waitUntilIdle();
    const after = peer.readCpuMs();
    const cpu_ms = before === null || after === null ? null : (after - before) / result.count;
    return { sent, per_s: result.count / result.seconds, cpu_ms, faults: tally.readFaults() };
  } finally {
    close();
  }
}

/** Messages at a steady rate, whatever the answers take. Returns the milliseconds from each send to the partner's frame. */
export async function sendSteadilyInPairs(
  peer: Peer,
  rate: number,
  { seconds, warmUp_s, nextNumber, signal }: LoadOptions,
): Promise<PeerLoad & { delays: number[] }> {
  const tally = createTally('by number');
  const { senders, close } = await openPairs(peer, steadyPairs, tally);
  // The service runs concurrent calls of one agent in any order, so each sender waits for its last answer. That time counts.
  const last: (Promise<void> | undefined)[] = [];
  try {
    const { count } = await runLoad({ rate, seconds: warmUp_s + seconds, signal }, (turn) => {
      const pair = turn % steadyPairs;
      const number = nextNumber();
      tally.expect(number, { receivers: 1, isMeasured: turn >= rate * warmUp_s });
      const sending = (last[pair] ?? Promise.resolve()).then(() => senders[pair]?.send(number));
      last[pair] = sending;
      return sending;
    });
    await tally.waitForAll(signal);
    return { sent: count, delays: tally.takeDelays(), faults: tally.readFaults() };
  } finally {
    close();
  }
}

/** One group whose members send in turn: first at a steady rate, then with several messages in flight, each until every member has it. */
export async function sendToGroup(
  peer: Peer,
  members: number,
  rate: number,
  { seconds, warmUp_s, nextNumber, signal }: LoadOptions,
): Promise<PeerLoad & { delays: number[]; frames_per_s: number }> {
  const tally = createTally('the same everywhere');
  const connections: Connection[] = [];
  let sent = 0;
  const send = (isMeasured: boolean) => {
    const number = nextNumber();
    tally.expect(number, { receivers: members, isMeasured });
    const sending = connections[sent % members]?.send(number);
    sent += 1;
    return isMeasured ? sending : Promise.all([sending, tally.arrival(number)]);
  };
  const sendAtFullSpeed = async (duration: number) => {
    const [before, began] = [tally.frames(), performance.now()];
    const load = { lanes: groupLanes, seconds: duration, signal };
    await giveUpAfter(tally, duration, () => runLoad(load, async () => send(false)));
    await tally.waitForAll(signal);
    const frames_per_s = ((tally.frames() - before) * 1_000) / (performance.now() - began);
    await peer.waitUntilIdle();
    return frames_per_s;
  };
  try {
    while (connections.length < members) {
      const member = connections.length;
      connections.push(await peer.connect(member, 'member', (number) => tally.receive(member, number)));
    }
    if (warmUp_s > 0) await sendAtFullSpeed(warmUp_s);
    await runLoad({ rate, seconds, signal }, async () => send(true));
    await tally.waitForAll(signal);
    await peer.waitUntilIdle();
    const frames_per_s = await sendAtFullSpeed(seconds);
    return { sent, delays: tally.takeDelays(), frames_per_s, faults: tally.readFaults() };
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function openPairs(peer: Peer, pairs: number, tally: Tally) {
  const senders: Connection[] = [];
  const receivers: Connection[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    receivers.push(await peer.connect(2 * pair + 1, 'receiver', (number) => tally.receive(pair, number)));
    senders.push(await peer.connect(2 * pair, 'sender', () => undefined));
  }
  const close = () => {
    for (const connection of [...senders, ...receivers]) connection.close();
  };
  return { senders, close };
}
