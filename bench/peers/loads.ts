import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../../src/shared/wait-until.ts';
import type { Connection, Peer } from './peer.ts';
import { createTally, type Faults, type Tally } from './tally.ts';

export interface LoadOptions {
  seconds: number;
  warmUp_s: number;
  /** Numbers of the messages of one server, one after the other. */
  nextNumber: () => number;
  signal: AbortSignal;
}

/** What one load measured. */
export interface LoadResult {
  /** Messages that were sent, with those of the warm-up. */
  sent: number;
  faults: Faults;
}

const timeoutMs = 30_000;
/** Senders at a steady rate, in turn. */
const steadyPairs = 32;
/** Messages to the group that have not reached every member yet, at full speed. */
const groupLanes = 16;

/** Pairs of agents. Each sends one message at a time: the next one when the server has taken it and the partner has it. */
export async function sendInPairs(
  peer: Peer,
  pairs: number,
  options: LoadOptions,
): Promise<LoadResult & { per_s: number; cpu_ms: number | null }> {
  const { seconds, warmUp_s, nextNumber, signal } = options;
  const tally = createTally('by number');
  const waitingFor = new Map<number, { number: number; steps: number }>();
  let sent = 0;
  let completed = 0;
  let isOver = false;
  const step = (pair: number, number: number) => {
    const state = waitingFor.get(pair);
    if (state?.number !== number) return;
    state.steps += 1;
    if (state.steps < 2) return;
    completed += 1;
    start(pair);
  };
  const connections = await openPairs(peer, pairs, tally, { onReceived: step, onAcknowledged: step });
  function start(pair: number): void {
    if (isOver) return;
    const number = nextNumber();
    waitingFor.set(pair, { number, steps: 0 });
    tally.expect(number, [pair]);
    sent += 1;
    connections.senders[pair]?.send(number);
  }
  try {
    for (let pair = 0; pair < pairs; pair += 1) start(pair);
    await pause(warmUp_s * 1_000, undefined, { signal });
    const cpuBefore = peer.readCpuMs();
    const [before, began] = [completed, performance.now()];
    await pause(seconds * 1_000, undefined, { signal });
    const count = completed - before;
    const per_s = (count * 1_000) / (performance.now() - began);
    isOver = true;
    await waitForAll(tally, signal);
    const cpuAfter = peer.readCpuMs();
    const cpu_ms =
      cpuBefore === null || cpuAfter === null || count === 0 ? null : (cpuAfter - cpuBefore) / count;
    return { sent, per_s, cpu_ms, faults: tally.readFaults() };
  } finally {
    connections.close();
  }
}

/** Messages at a steady rate, whatever the answers take. Returns the milliseconds from each send to the partner's frame. */
export async function sendSteadilyInPairs(
  peer: Peer,
  per_second: number,
  options: LoadOptions,
): Promise<LoadResult & { delays: number[] }> {
  const tally = createTally('by number');
  const started = new Map<number, { at: number; isMeasured: boolean }>();
  const delays: number[] = [];
  const connections = await openPairs(peer, steadyPairs, tally, {
    onReceived: (_, number) => addDelay(started.get(number), delays),
    onAcknowledged: () => undefined,
  });
  try {
    const sent = await repeatAtRate(per_second, options, (turn, isMeasured) => {
      const pair = turn % steadyPairs;
      const number = options.nextNumber();
      tally.expect(number, [pair]);
      started.set(number, { at: performance.now(), isMeasured });
      connections.senders[pair]?.send(number);
    });
    await waitForAll(tally, options.signal);
    return { sent, delays, faults: tally.readFaults() };
  } finally {
    connections.close();
  }
}

/** One group whose members send in turn: first at a steady rate, then with several messages in flight. */
export async function sendToGroup(
  peer: Peer,
  members: number,
  per_second: number,
  options: LoadOptions,
): Promise<LoadResult & { delays: number[]; frames_per_s: number }> {
  const { seconds, warmUp_s, nextNumber, signal } = options;
  const tally = createTally('the same everywhere');
  const everyone = Array.from({ length: members }, (_, member) => member);
  const started = new Map<number, { at: number; isMeasured: boolean }>();
  const delays: number[] = [];
  const connections: Connection[] = [];
  let frames = 0;
  let sent = 0;
  let isFullSpeed = false;
  const send = (isMeasured: boolean) => {
    const number = nextNumber();
    tally.expect(number, everyone);
    started.set(number, { at: performance.now(), isMeasured });
    connections[sent % members]?.send(number);
    sent += 1;
  };
  const onMessage = (member: number, number: number) => {
    frames += 1;
    addDelay(started.get(number), delays);
    if (tally.receive(member, number) === members && isFullSpeed) send(false);
  };
  try {
    for (const member of everyone) {
      const listener = {
        onMessage: (number: number) => onMessage(member, number),
        onAcknowledged: () => undefined,
      };
      connections.push(await peer.connect(member, 'member', listener));
    }
    await repeatAtRate(per_second, options, (_, isMeasured) => send(isMeasured));
    await waitForAll(tally, signal);
    isFullSpeed = true;
    for (let lane = 0; lane < groupLanes; lane += 1) send(false);
    await pause(warmUp_s * 1_000, undefined, { signal });
    const [before, began] = [frames, performance.now()];
    await pause(seconds * 1_000, undefined, { signal });
    const frames_per_s = ((frames - before) * 1_000) / (performance.now() - began);
    isFullSpeed = false;
    await waitForAll(tally, signal);
    return { sent, delays, frames_per_s, faults: tally.readFaults() };
  } finally {
    for (const connection of connections) connection.close();
  }
}

interface PairCallbacks {
  onReceived(pair: number, number: number): void;
  onAcknowledged(pair: number, number: number): void;
}

async function openPairs(
  peer: Peer,
  pairs: number,
  tally: Tally,
  { onReceived, onAcknowledged }: PairCallbacks,
) {
  const senders: Connection[] = [];
  const receivers: Connection[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const sender = {
      onMessage: () => undefined,
      onAcknowledged: (number: number) => onAcknowledged(pair, number),
    };
    const receiver = {
      onMessage(number: number) {
        tally.receive(pair, number);
        onReceived(pair, number);
      },
      onAcknowledged: () => undefined,
    };
    receivers.push(await peer.connect(2 * pair + 1, 'receiver', receiver));
    senders.push(await peer.connect(2 * pair, 'sender', sender));
  }
  return {
    senders,
    close() {
      for (const connection of [...senders, ...receivers]) connection.close();
    },
  };
}

/** Calls `send` at a steady rate without waiting for answers; the calls of the warm-up are not measured. Returns their number. */
async function repeatAtRate(
  per_second: number,
  { seconds, warmUp_s, signal }: LoadOptions,
  send: (turn: number, isMeasured: boolean) => void,
): Promise<number> {
  const begin = performance.now();
  const total = Math.round(per_second * (warmUp_s + seconds));
  for (let turn = 0; turn < total; turn += 1) {
    const due = begin + (turn * 1_000) / per_second;
    if (due > performance.now()) await pause(due - performance.now(), undefined, { signal });
    send(turn, turn >= per_second * warmUp_s);
  }
  return total;
}

function addDelay(start: { at: number; isMeasured: boolean } | undefined, delays: number[]): void {
  if (start?.isMeasured) delays.push(performance.now() - start.at);
}

/** Waits until every expected message has arrived, at most 30 seconds: the rest is lost. */
async function waitForAll(tally: Tally, signal: AbortSignal): Promise<void> {
  await waitUntil(() => tally.missing() === 0, { timeoutMs, intervalMs: 10, signal });
}
