import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

/** The longest time for which one call may hold the event loop, in milliseconds of CPU time. */
export const maxHoldMs = 50;
/** A pause of the garbage collector counts too, but not at every attempt: a call counts as slow when its shortest time of these is over the bound. */
const attempts = 8;

/** The environment that puts the probe into a process. @param socket the path of its socket */
export function buildProbeEnv(socket: string): Record<string, string> {
  const probe = pathToFileURL(resolve(import.meta.dirname, 'loop-probe.mjs')).href;
  return { NODE_OPTIONS: `--import=${probe}`, LOOP_PROBE: socket };
}

/** The longest time for which one turn of the event loop computed since the last reading, in milliseconds of CPU time. */
async function readLoopHold(socketPath: string): Promise<number> {
  const call = request({ socketPath }).end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return Number(await text(response));
}

/**
 * The time for which every attempt of a call holds the loop of the process with the probe, in milliseconds of CPU time.
 * `call` gets the number of the attempt, so that no cache answers it.
 */
export async function measureHold(
  socket: string,
  call: (attempt: number) => Promise<unknown>,
): Promise<number> {
  let shortest = Infinity;
  for (let attempt = 0; attempt < attempts && shortest > maxHoldMs; attempt += 1) {
    await readLoopHold(socket);
    await call(attempt);
    shortest = Math.min(shortest, await readLoopHold(socket));
  }
  return shortest;
}
