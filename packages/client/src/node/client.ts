import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { type Client, type ClientOptions, createClient as createPortableClient } from '../client.ts';
import type { SocketConstructor } from '../events/socket.ts';
import type { Auth } from '../sign-in/types.ts';
import { storedSignIn } from './stored-sign-in.ts';

/**
 * Creates a client on Node: with files by their paths, and WebSockets of `ws` or of Node 22. Without `url`, AMS_URL is the address. Without
 * `auth`, it signs in with AMS_TOKEN, with AMS_CLIENT_ID and AMS_CLIENT_SECRET, or as the command line did.
 */
export function createClient(options: Partial<ClientOptions> = {}): Client {
  const { url = process.env['AMS_URL'], auth = readAuth(process.env) } = options;
  if (!url) throw new TypeError('The address of the service is missing: set url, or AMS_URL.');
  return createPortableClient(
    { ...options, url, auth },
    {
      loadSocket,
      consumer: nameInstance(hostname(), process.pid),
      openFile: async (path) => ({ blob: await openAsBlob(path), filename: basename(path) }),
      saveFile,
      onTerminate(stop) {
        process.once('SIGTERM', stop);
        return () => void process.off('SIGTERM', stop);
      },
    },
  );
}

async function saveFile(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(draft, content, { flag: 'wx' });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** The name of an instance in the inbox, at most 64 characters. */
export function nameInstance(host: string, pid: number): string {
  const end = `-${pid}`;
  return host.replaceAll(/[^\w.-]/g, '-').slice(0, 64 - end.length) + end;
}

function readAuth({ AMS_TOKEN, AMS_CLIENT_ID, AMS_CLIENT_SECRET }: NodeJS.ProcessEnv): Auth {
  if (AMS_TOKEN) return AMS_TOKEN;
  if (!AMS_CLIENT_ID || !AMS_CLIENT_SECRET) return storedSignIn();
  return { clientId: AMS_CLIENT_ID, clientSecret: AMS_CLIENT_SECRET };
}

/** `ws` can stop reading, so it comes first. Without either, events come by long polls. */
async function loadSocket(): Promise<SocketConstructor | undefined> {
  try {
    return (await import('ws')).WebSocket;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw error;
    return Reflect.get(globalThis, 'WebSocket') as SocketConstructor | undefined;
  }
}
