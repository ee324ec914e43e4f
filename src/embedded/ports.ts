import { createServer } from 'node:net';
import { join } from 'node:path';
import { LauncherError } from './launcher-error.ts';
import { type JsonObject, parseObject } from '../shared/narrow.ts';
import { readIfExists, writePrivateFile } from './private-file.ts';

/** Tries to listen: null when the port is free, else the system's reason (`EADDRINUSE`, `EACCES`, …). */
export function findPortProblem(host: string, port: number): Promise<string | null> {
  return tryToListen(host, port).then((result) => (typeof result === 'string' ? result : null));
}

/** Returns a port on 127.0.0.1 that is free now. */
export async function findFreePort(): Promise<number> {
  const result = await tryToListen('127.0.0.1', 0);
  if (typeof result === 'string') throw new LauncherError(`cannot find a free port on 127.0.0.1 (${result})`);
  return result;
}

function tryToListen(host: string, port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}

/**
 * The loopback port for a part: the requested one, else the previous one, else any free one.
 * @throws {LauncherError} when the requested port is taken.
 */
export async function choosePort(dataDir: string, part: string, requested?: number): Promise<number> {
  if (requested !== undefined) {
    const reason = await findPortProblem('127.0.0.1', requested);
    if (reason === null) return requested;
    throw new LauncherError(
      `${part}: port ${requested} on 127.0.0.1 is taken (${reason}); choose another port, or omit it to use any free port`,
    );
  }
  const saved = readSavedPorts(dataDir)[part];
  const isFree = typeof saved === 'number' && (await findPortProblem('127.0.0.1', saved)) === null;
  return isFree ? saved : await findFreePort();
}

/** Stores the port of a part for the next start. */
export function savePort(dataDir: string, part: string, port: number): void {
  const ports = { ...readSavedPorts(dataDir), [part]: port };
  writePrivateFile(join(dataDir, 'ports.json'), `${JSON.stringify(ports)}\n`);
}

/** Empty without the file, or when it is invalid: the parts get other ports. */
function readSavedPorts(dataDir: string): JsonObject {
  return parseObject(readIfExists(join(dataDir, 'ports.json')) ?? '') ?? {};
}
