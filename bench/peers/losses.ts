import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { waitUntil } from '../../src/shared/wait-until.ts';
import { addFaults, type Faults } from '../load/tally.ts';
import type { Bench } from '../start/service.ts';
import { withTimeout } from '../start/with-timeout.ts';
import type { ClientOrder, ClientReport } from './client-process.ts';
import type { Crash, Peer } from './peer.ts';

/** Which processes are killed under load: all of the server with its database, the one with all clients, or both. */
export const victims = ['server', 'client', 'both'] as const;
export type Victim = (typeof victims)[number];
export type Losses = Record<Victim, Faults>;

/** Pairs of agents that only this measure uses, after those of the loads. */
export const lossPairs = 16;
/** Confirmed messages before a kill. */
const confirmedBefore = 400;
const numbersPerTrial = 100_000;
const timeoutMs = 60_000;
/** For messages that a server confirms before it stores them. */
const storeTimeoutMs = 10_000;
/** The built program, also for a test that runs this source. */
const folder = import.meta.filename.endsWith('.ts') ? '../../dist/bench/peers' : '.';
const program = resolve(import.meta.dirname, folder, 'client-process.js');

/**
 * Kills a server, its clients or both with SIGKILL while they send. Then a new client repeats what was not confirmed, under the same keys,
 * and a new reader reads everything.
 * @param firstPair the number of the first pair of agents to use
 * @param first the number of the first message
 * @param kills how often each is killed
 * @returns confirmed messages that the reader does not get, repeated and reordered ones; null for a server that stores nothing
 */
export async function measureLosses(
  bench: Pick<Bench, 'signal' | 'onEnd'>,
  kind: string,
  { address, crash }: Peer,
  { firstPair, first, kills = 2 }: { firstPair: number; first: number; kills?: number },
): Promise<Losses | null> {
  if (!crash) return null;
  const none = { lost: 0, duplicated: 0, reordered: 0 };
  const losses: Losses = { server: none, client: none, both: none };
  const pairs = Array.from({ length: lossPairs }, (_, at) => firstPair + at);
  let next = first;
  for (let kill = 0; kill < kills; kill += 1) {
    for (const victim of victims) {
      const order = { kind, address, pairs, first: next };
      losses[victim] = addFaults(losses[victim], await killOnce(bench, crash, victim, order));
      next += numbersPerTrial;
    }
  }
  return losses;
}

async function killOnce(
  bench: Pick<Bench, 'signal' | 'onEnd'>,
  crash: Crash,
  victim: Victim,
  order: ClientOrder,
): Promise<Faults> {
  const client = startClient(bench, order);
  const isBusy = () => client.confirmed.size >= confirmedBefore;
  const isOver = () => isBusy() || client.child.exitCode !== null;
  await waitUntil(isOver, { timeoutMs, signal: bench.signal });
  if (!isBusy()) throw new Error(`a client ended or was too slow: ${client.confirmed.size} messages`);
  if (victim !== 'server') client.child.kill('SIGKILL');
  if (victim !== 'client') await crash.kill9();
  await withTimeout('a client to end', timeoutMs, client.ended, bench.signal);
  if (victim !== 'client') await crash.restart();
  const repeat = client.sent.map((numbers) => numbers.filter((number) => !client.confirmed.has(number)));
  const later = startClient(bench, { ...order, repeat });
  await withTimeout('a client to repeat its sends', timeoutMs, later.ended, bench.signal);
  const confirmed = new Set([...client.confirmed, ...later.confirmed]);
  if (repeat.flat().some((number) => !confirmed.has(number)))
    throw new Error('a repeated send was not confirmed');
  const compare = async () => {
    const lanes = await Promise.all(order.pairs.map((pair) => crash.readAll(2 * pair + 1)));
    return countFaults(
      client.sent.map((numbers) => numbers.filter((number) => confirmed.has(number))),
      lanes.map((numbers) => numbers.filter((number) => number >= order.first)),
    );
  };
  let faults = await compare();
  const isStored = async () => (faults = await compare()).lost === 0;
  await waitUntil(isStored, { timeoutMs: storeTimeoutMs, intervalMs: 1_000, signal: bench.signal });
  return faults;
}

/** Compares what was confirmed with what a reader got, lane by lane. The numbers of a lane increase. */
export function countFaults(
  confirmed: readonly (readonly number[])[],
  read: readonly (readonly number[])[],
): Faults {
  const lanes = confirmed.map((numbers, lane) => {
    const list = read[lane] ?? [];
    const found = [...new Set(list)];
    return {
      lost: numbers.filter((number) => !found.includes(number)).length,
      duplicated: list.length - found.length,
      reordered: found.filter((number, at) => number < (found[at - 1] ?? number)).length,
    };
  });
  return lanes.reduce(addFaults);
}

function startClient({ onEnd }: Pick<Bench, 'onEnd'>, order: ClientOrder) {
  const child: ChildProcess = fork(program, { detached: true, stdio: ['ignore', 'ignore', 2, 'ipc'] });
  onEnd(() => child.kill('SIGKILL'));
  const sent = order.pairs.map(() => [] as number[]);
  const confirmed = new Set<number>();
  child.on('message', (report: ClientReport) => {
    if ('sent' in report) sent[report.lane]?.push(report.sent);
    else confirmed.add(report.confirmed);
  });
  child.send(order);
  return { child, sent, confirmed, ended: once(child, 'close') };
}
