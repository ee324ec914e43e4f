import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readProcessCpuTime } from '../cpu-time.ts';
import { buildNumberedContent } from '../messages/receivers.ts';
import { startBareServer } from '../streams/bare-process.ts';
import { openLightSocket } from '../streams/light-socket.ts';
import { garbageCollectionArguments, waitForStableMemory } from '../streams/resident-memory.ts';
import { type Peer, type PeerParts, readNumber } from './peer.ts';

const program = fileURLToPath(new URL('./relay-process.js', import.meta.url));
const marker = Buffer.from('"content":"#');
const takenPrefix = '{"type":"taken","id":';

/** Starts the bare relay in its own process. */
export async function startRelay(parts: PeerParts): Promise<{ peer: Peer; stop(): Promise<void> }> {
  const server = await startBareServer({ program, node_arguments: garbageCollectionArguments, ...parts });
  return { peer: createRelayPeer(server, parts), stop: () => server.stop() };
}

/** The clients of a relay. */
export function createRelayPeer(
  { base, pid }: { base: string; pid: number },
  { signal, fail }: PeerParts,
): Peer {
  return {
    name: 'bare ws',
    async connect(agent, role, listener) {
      const ready = new EventTarget();
      const isReady = once(ready, 'ready');
      const socket = await openLightSocket({
        base,
        path: role === 'member' ? '/group' : '/',
        token: `agent-${agent}`,
        onLost: fail,
        onFrame(frame) {
          const number = readNumber(frame, marker);
          const text = number === null ? frame.toString('latin1') : '';
          if (number !== null) listener.onMessage(number);
          else if (text.startsWith(takenPrefix))
            listener.onAcknowledged(parseInt(text.slice(takenPrefix.length), 10));
          else ready.dispatchEvent(new Event('ready'));
        },
      });
      await isReady;
      const to = role === 'member' ? {} : { to: `agent-${agent + 1}` };
      return {
        send: (number) =>
          socket.send(JSON.stringify({ ...to, id: number, content: buildNumberedContent(number) })),
        close: () => socket.close(),
      };
    },
    countStored: () => null,
    readCpuMs: () => readProcessCpuTime(pid),
    readMemory: () => waitForStableMemory(pid, signal),
  };
}
