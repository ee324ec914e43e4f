import { setTimeout as pause } from 'node:timers/promises';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { readCpuTime } from '../cpu-time.ts';
import type { Member } from '../population.ts';
import type { Environment } from '../environment.ts';
import { startBareServer } from './bare-process.ts';
import { createMembers } from './agents.ts';
import { type LightSocket, openLightSocket } from './light-socket.ts';
import {
  garbageCollectionArguments,
  quarterOf,
  readResidentBytes,
  type SocketMemory,
  toSocketMemory,
  waitForStableMemory,
} from './resident-memory.ts';

export interface SocketsOptions {
  sockets: number;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

/** Memory of one process, in KB (1,000 bytes). */
export interface ProcessMemory extends SocketMemory {
  at_rest_kb: number;
  /** As `average_kb`, before garbage collection. */
  unsettled_kb: number;
}

export interface SocketsMeasurement {
  sockets: number;
  service: ProcessMemory;
  bare: ProcessMemory;
  /** Of the marginal memory. */
  ratio: number;
  /** CPU milliseconds per second of the API with all sockets idle, and without sockets. */
  idle_cpu_ms_per_s: number;
  rest_cpu_ms_per_s: number;
}

/** Number of concurrent handshakes, and of sockets opened beforehand to load the code. */
const concurrency = 50;
const warmUpSockets = 200;
const idleSeconds = 10;

/** Measures the memory and CPU time of idle sockets, one per agent; see docs/performance.md. */
export async function measureSockets(
  environment: Environment,
  options: SocketsOptions,
): Promise<SocketsMeasurement> {
  const { sockets, log, signal } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  let agents: Member[];
  try {
    agents = await createMembers(core, 'sockets', sockets);
  } finally {
    await core.close();
  }
  const api = { base: environment.base, path: '/ws', pid: environment.pids.api };
  const rest_cpu_ms_per_s = await measureIdleCpu(environment, signal);
  let idle_cpu_ms_per_s = Number.NaN;
  const service = await measureMemory(api, agents, options, async () => {
    idle_cpu_ms_per_s = await measureIdleCpu(environment, signal);
  });
  log(`the service: ${service.marginal_kb} KB for each of ${sockets} sockets`);
  const server = await startBareServer({ ...options, node_arguments: garbageCollectionArguments });
  try {
    const bare = await measureMemory({ base: server.base, path: '/', pid: server.pid }, agents, options);
    const ratio = Math.round((service.marginal_kb / bare.marginal_kb) * 100) / 100;
    return { sockets, service, bare, ratio, idle_cpu_ms_per_s, rest_cpu_ms_per_s };
  } finally {
    await server.stop();
  }
}

async function measureMemory(
  server: { base: string; path: string; pid: number },
  agents: readonly Member[],
  { signal, fail }: SocketsOptions,
  whileOpen?: () => Promise<void>,
): Promise<ProcessMemory> {
  const warm = await openAll(server, agents.slice(0, warmUpSockets), fail);
  for (const socket of warm) socket.close();
  await pause(1_000, undefined, { signal });
  const sockets = agents.length;
  const none = await waitForStableMemory(server.pid, signal);
  const open = await openAll(server, agents.slice(0, quarterOf(sockets)), fail);
  try {
    await pause(idleSeconds * 500, undefined, { signal });
    const quarter = await waitForStableMemory(server.pid, signal);
    open.push(...(await openAll(server, agents.slice(quarterOf(sockets)), fail)));
    await pause(idleSeconds * 500, undefined, { signal });
    const unsettled = readResidentBytes(server.pid);
    const all = await waitForStableMemory(server.pid, signal);
    await whileOpen?.();
    if (!open.every((socket) => socket.open())) throw new Error('a socket did not stay open');
    const { marginal_kb, average_kb } = toSocketMemory(sockets, { none, quarter, all });
    return {
      at_rest_kb: Math.round(none / 1_000),
      marginal_kb: round(marginal_kb),
      average_kb: round(average_kb),
      unsettled_kb: round((unsettled - none) / sockets / 1_000),
    };
  } finally {
    for (const socket of open) socket.close();
  }
}

function round(kb: number): number {
  return Math.round(kb * 100) / 100;
}

async function openAll(
  { base, path }: { base: string; path: string },
  members: readonly Member[],
  onLost: (reason: Error) => void,
): Promise<LightSocket[]> {
  const sockets: LightSocket[] = [];
  const waiting = [...members];
  async function lane(): Promise<void> {
    for (let member = waiting.pop(); member; member = waiting.pop()) {
      const { token } = member;
      sockets.push(await openLightSocket({ base, path, token, onFrame: () => undefined, onLost }));
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane));
  return sockets;
}

async function measureIdleCpu(environment: Environment, signal: AbortSignal): Promise<number> {
  const before = readCpuTime(environment)?.api ?? Number.NaN;
  await pause(idleSeconds * 1_000, undefined, { signal });
  const after = readCpuTime(environment)?.api ?? Number.NaN;
  return Math.round((after - before) / idleSeconds);
}

/** Formats the figures as text. */
export function formatSockets(measured: SocketsMeasurement): string {
  const { sockets, service, bare, ratio } = measured;
  const line = (name: string, memory: ProcessMemory) =>
    `${name}  ${memory.marginal_kb} KB for one more, ${memory.average_kb} KB on average (${memory.unsettled_kb} before garbage is collected), ${memory.at_rest_kb} KB at rest`;
  return [
    `${sockets} idle sockets, one per agent`,
    line('the service       ', service),
    line('a bare ws server  ', bare),
    `ratio               ${ratio}`,
    `API, CPU            ${measured.idle_cpu_ms_per_s} ms per second with all of them idle, ${measured.rest_cpu_ms_per_s} without`,
    '',
  ].join('\n');
}
