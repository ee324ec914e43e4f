import { setTimeout as pause } from 'node:timers/promises';
import { readProcessCpuTime } from '../load/cpu-time.ts';
import { measureIdle } from '../peers/idle.ts';
import { startRelay } from '../peers/relay.ts';
import { createPopulation, createServicePeer } from '../peers/service.ts';
import { garbageCollectionArguments } from '../start/resident-memory.ts';
import { type Bench, startService } from '../start/service.ts';

const idleSeconds = 10;

/** Memory and CPU time of idle sockets, one per agent, compared with a bare relay; see docs/performance.md. */
export async function measureSockets(bench: Bench) {
  const { options, log, signal } = bench;
  const { sockets } = options.streams;
  const service = await startService(bench, { nodeArguments: garbageCollectionArguments });
  const population = await createPopulation(service, { idle: sockets });
  /** CPU milliseconds of the API per second. */
  const measureCpu = async () => {
    const before = readProcessCpuTime(service.pid) ?? Number.NaN;
    await pause(idleSeconds * 1_000, undefined, { signal });
    return Math.round(((readProcessCpuTime(service.pid) ?? Number.NaN) - before) / idleSeconds);
  };
  const rest_cpu_ms_per_s = await measureCpu();
  let idle_cpu_ms_per_s = Number.NaN;
  const peer = createServicePeer(bench, service, population, 'WebSocket calls');
  const own = await measureIdle(peer, sockets, signal, async () => {
    idle_cpu_ms_per_s = await measureCpu();
  });
  log(`the service: ${own.marginal_kb} KB for each of ${sockets} sockets`);
  const bare = await measureIdle(await startRelay(bench), sockets, signal);
  const ratio = Math.round((own.marginal_kb / bare.marginal_kb) * 100) / 100;
  return { sockets, service: own, bare, ratio, idle_cpu_ms_per_s, rest_cpu_ms_per_s };
}
