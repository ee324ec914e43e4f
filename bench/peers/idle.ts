import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { quarterOf, type SocketMemory, toSocketMemory } from '../streams/resident-memory.ts';
import type { Connection, Peer } from './peer.ts';

export interface IdleResult extends SocketMemory {
  /** Connections that the server accepted and authenticated per second. */
  connects_per_s: number;
}

/** Concurrent handshakes. */
const lanes = 50;
/** Opened and closed before, so that the first use of the code does not count. */
const warmUpSockets = 100;
const settleMs = 2_000;

const silent = { onMessage: () => undefined, onAcknowledged: () => undefined };

/** Opens idle connections, one per agent, and measures their memory. */
export async function measureIdle(peer: Peer, sockets: number, signal: AbortSignal): Promise<IdleResult> {
  const open: Connection[] = [];
  let openingMs = 0;

  /** Opens connections until there are `count`. Returns the memory of the server after garbage collection, in bytes. */
  async function openUntil(count: number): Promise<number> {
    const began = performance.now();
    await openAll(peer, open, count);
    openingMs += performance.now() - began;
    await pause(settleMs, undefined, { signal });
    return peer.readMemory();
  }

  await openAll(peer, open, Math.min(sockets, warmUpSockets));
  closeAll(open);
  await pause(settleMs, undefined, { signal });
  try {
    const none = await peer.readMemory();
    const quarter = await openUntil(quarterOf(sockets));
    const all = await openUntil(sockets);
    return {
      connects_per_s: (sockets / openingMs) * 1_000,
      ...toSocketMemory(sockets, { none, quarter, all }),
    };
  } finally {
    closeAll(open);
  }
}

/** Opens connections until there are `count`. */
async function openAll(peer: Peer, open: Connection[], count: number): Promise<void> {
  let next = open.length;
  async function lane(): Promise<void> {
    while (next < count) {
      const agent = next;
      next += 1;
      open.push(await peer.connect(agent, 'idle', silent));
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
}

function closeAll(open: Connection[]): void {
  for (const connection of open.splice(0)) connection.close();
}
