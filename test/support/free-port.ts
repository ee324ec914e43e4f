import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections, and above those that fetch refuses. */
const [firstPort, endPort] = [11_000, 32_000];
const taken = new Set<number>();

/** A port of the loopback interface that is free now. It is returned once, because its server starts later. */
export async function findFreePort(): Promise<number> {
  while (taken.size < endPort - firstPort) {
    const port = randomInt(firstPort, endPort);
    if (taken.has(port)) continue;
    taken.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port on the loopback interface');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
