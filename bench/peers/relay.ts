import { readProcessCpuTime } from '../load/cpu-time.ts';
import { openLightSocket } from '../load/light-socket.ts';
import { buildNumberedContent, readNumber } from '../load/tally.ts';
import { startBareServer } from '../start/bare-server.ts';
import { garbageCollectionArguments, waitForStableMemory } from '../start/resident-memory.ts';
import type { Bench } from '../start/service.ts';
import type { ClientParts, Connect, Peer, PeerKind } from './peer.ts';

const takenPrefix = '{"type":"taken","id":';

export const relay: PeerKind = {
  name: 'bare ws',
  findMissing: () => null,
  start: async (bench) => [await startRelay(bench)],
  openClient: openRelayClient,
};

/** Starts the bare relay in its own process. */
async function startRelay(bench: Bench): Promise<Peer> {
  const server = await startBareServer(bench, 'peers/relay-process', garbageCollectionArguments);
  return createRelayPeer(server, bench);
}

/** The clients of a relay. */
export function createRelayPeer(
  { base, pid }: { base: string; pid: number },
  parts: Pick<ClientParts, 'fail' | 'signal'>,
): Peer {
  return {
    name: relay.name,
    address: base,
    connect: openRelayClient(base, parts),
    waitUntilIdle: () => Promise.resolve(),
    countStored: () => null,
    readCpuMs: () => readProcessCpuTime(pid),
    readMemory: () => waitForStableMemory(pid, parts.signal),
  };
}

function openRelayClient(base: string, { fail }: Pick<ClientParts, 'fail'>): Connect {
  return async (agent, role, onMessage) => {
    const taken = new Map<number, () => void>();
    const socket = await openLightSocket({
      base,
      path: role === 'member' ? '/group' : '/',
      token: `agent-${agent}`,
      awaitReady: true,
      onLost: fail,
      onFrame(frame) {
        const number = readNumber(frame);
        if (number !== null) {
          onMessage(number);
          return;
        }
        const id = parseInt(frame.toString('latin1').slice(takenPrefix.length), 10);
        taken.get(id)?.();
        taken.delete(id);
      },
    });
    const to = role === 'member' ? {} : { to: `agent-${agent + 1}` };
    return {
      send(number) {
        socket.send(JSON.stringify({ ...to, id: number, content: buildNumberedContent(number) }));
        return new Promise((resolve) => taken.set(number, resolve));
      },
      close: socket.close,
    };
  };
}
