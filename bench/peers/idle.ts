import { setTimeout as pause } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import { mapConcurrently } from '../load/run-load.ts';
import { quarterOf, type SocketMemory, toSocketMemory } from '../start/resident-memory.ts';
import type { Connection, Peer } from './peer.ts';

export interface IdleResult extends SocketMemory {
  /** Connections that the server accepted and authenticated per second. */
  connects_per_s: number;
  /** Memory without sockets. */
  at_rest_kb: number;
  /** CPU milliseconds of the server and its database per second, without sockets and with all of them; null where the system does not report it. */
  rest_cpu_ms_per_s: number | null;
  idle_cpu_ms_per_s: number | null;
}

/** Concurrent handshakes. */
const lanes = 50;
/** Opened and closed before, so that the first use of the code does not count. */
const warmUpSockets = 200;
const settleMs = 5_000;

/** Opens idle connections, one per agent, and measures the memory and the CPU time that they need. */
export async function measureIdle(peer: Peer, sockets: number, signal: AbortSignal): Promise<IdleResult> {
  const open: Connection[] = [];
  let openingMs = 0;
  const openUntil = async (count: number) => {
    const began = performance.now();
    const agents = Array.from({ length: count - open.length }, (_, at) => open.length + at);
    const connect = (agent: number) => peer.connect(agent, 'idle', () => undefined);
    open.push(...(await mapConcurrently(agents, lanes, signal, connect)));
    openingMs += performance.now() - began;
  };
  const closeAll = () => {
    for (const connection of open.splice(0)) connection.close();
  };
  /** Memory of the server after garbage collection, in bytes. */
  const readSettled = async () => {
    await pause(settleMs, undefined, { signal });
    return peer.readMemory();
  };
  const readCpu = async () => {
    const before = peer.readCpuMs();
    await pause(settleMs, undefined, { signal });
    const after = peer.readCpuMs();
    return before === null || after === null ? null : Math.round((after - before) / (settleMs / 1_000));
  };

  try {
    await openUntil(Math.min(sockets, warmUpSockets));
    closeAll();
    const none = await readSettled();
    const rest_cpu_ms_per_s = await readCpu();
    openingMs = 0;
    await openUntil(quarterOf(sockets));
    const quarter = await readSettled();
    await openUntil(sockets);
    const all = await readSettled();
    return {
      connects_per_s: Math.round((sockets / openingMs) * 1_000),
      at_rest_kb: Math.round(none / 1_000),
      rest_cpu_ms_per_s,
      idle_cpu_ms_per_s: await readCpu(),
      ...toSocketMemory(sockets, { none, quarter, all }),
    };
  } finally {
    closeAll();
  }
}
