import { mean } from './peers.ts';
import { round } from '../load/in-turn.ts';
import { percentiles } from '../load/percentiles.ts';
import { addFaults, createCounter } from '../load/tally.ts';
import { sendToGroup } from '../peers/loads.ts';
import { startRelay } from '../peers/relay.ts';
import { createPopulation, createServicePeer } from '../peers/service.ts';
import { type Bench, startService } from '../start/service.ts';

const rounds = 2;
const warmUp_s = 3;

/** Delivery in a thread with many connected members, compared with a bare relay; see docs/performance.md. */
export async function measureFanOut(bench: Bench) {
  const { options, log, signal } = bench;
  const { members, rate } = options.streams;
  const seconds = options.sending.seconds / rounds;
  const service = await startService(bench);
  const population = await createPopulation(service, { members });
  const peers = [createServicePeer(bench, service, population, 'POST'), await startRelay(bench)];
  const runs = peers.map((peer) => ({ peer, nextNumber: createCounter(), results: [] as Result[] }));
  for (let number = 1; number <= rounds; number += 1) {
    for (const { peer, nextNumber, results } of runs) {
      results.push(
        await sendToGroup(peer, members, rate, { seconds, warmUp_s, nextNumber, signal, until: 'taken' }),
      );
      log(`round ${number}: ${peer.name}, ${results.at(-1)?.frames_per_s.toFixed(0)} frames/s`);
    }
  }
  const [own, bare] = runs.map(({ results }) => ({
    delivery_ms: percentiles(results.flatMap(({ delays }) => delays)),
    frames_per_s: Math.round(mean(results.map(({ frames_per_s }) => frames_per_s))),
    cpu_ms_per_message: round(mean(results.map(({ cpu_ms }) => cpu_ms ?? Number.NaN))),
    faults: results.map(({ faults }) => faults).reduce(addFaults),
  }));
  if (!own || !bare) throw new Error('nothing was measured');
  return {
    members,
    rate,
    ...own,
    bare_delivery_ms: bare.delivery_ms,
    bare_frames_per_s: bare.frames_per_s,
    frames_ratio: round(own.frames_per_s / bare.frames_per_s),
  };
}

type Result = Awaited<ReturnType<typeof sendToGroup>>;
