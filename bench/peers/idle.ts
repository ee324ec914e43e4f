import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection, Peer } from './peer.ts';

export interface IdleResult {
  /** Connections that the server accepted and authenticated per second. */
  connects_per_s: number;
  /** Resident memory of one idle connection, in KB (1,000 bytes). */
  socket_kb: number;
}

/** Concurrent handshakes. */
const lanes = 50;
/** Opened and closed before, so that the first use of the code does not count. */
const warmUpSockets = 100;
const settleMs = 2_000;

const silent = { onMessage: () => undefined, onAcknowledged: () => undefined };

/** Opens idle connections, one per agent, and measures their memory. */
export async function measureIdle(peer: Peer, sockets: number, signal: AbortSignal): Promise<IdleResult> {
  const first = await openAll(peer, Math.min(sockets, warmUpSockets));
  for (const connection of first) connection.close();
  await pause(settleMs, undefined, { signal });
  const before = await peer.readMemory();
  const began = performance.now();
  const open = await openAll(peer, sockets);
  const seconds = (performance.now() - began) / 1_000;
  try {
    await pause(settleMs, undefined, { signal });
    const after = await peer.readMemory();
    return { connects_per_s: sockets / seconds, socket_kb: (after - before) / sockets / 1_000 };
  } finally {
    for (const connection of open) connection.close();
  }
}

async function openAll(peer: Peer, sockets: number): Promise<Connection[]> {
  const connections: Connection[] = [];
  let next = 0;
  async function lane(): Promise<void> {
    while (next < sockets) {
      const agent = next;
      next += 1;
      connections.push(await peer.connect(agent, 'idle', silent));
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
  return connections;
}
