import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { type ScannedFile, ScannerUnavailable } from '../../../src/platform/scanning/scanner.ts';
import { createClamdScanner, pingClamd } from '../../../src/platform/scanning/clamd.ts';

/** Somebody who listens where clamd should. */
async function startFakeClamd(behave: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    behave(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return `tcp://127.0.0.1:${address.port}`;
}

const bytes = Buffer.alloc(8_000_000, 'x');
const file: ScannedFile = {
  size_bytes: bytes.byteLength,
  sha256: '0'.repeat(64),
  read: () => Promise.resolve(Readable.from([bytes.subarray(0, 4_000_000), bytes.subarray(4_000_000)])),
};

/** Once everything has come: the frame of no length ends it. */
const atTheEnd = (socket: Socket, say: () => void): void => {
  let last = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    last = Buffer.concat([last, chunk]).subarray(-4);
    if (last.equals(Buffer.alloc(4))) say();
  });
};

const shortTimeouts = { idleMs: 300, totalMs: 60_000 };

test.each<[string, (socket: Socket) => void, typeof shortTimeouts?]>([
  ['takes nothing and says nothing', (socket) => void socket.pause()],
  ['takes everything and says nothing', (socket) => void socket.resume()],
  ['hangs up at once', (socket) => void socket.destroy()],
  ['hangs up in the middle', (socket) => void socket.once('data', () => socket.destroy())],
  ['hangs up within its answer', (socket) => atTheEnd(socket, () => socket.end('stream: OK'))],
  ['says that it is well before it has seen everything', (socket) => void socket.write('stream: OK\0')],
  ['says what nobody understands', (socket) => atTheEnd(socket, () => socket.write('220 mail\r\n\0'))],
  ['reports a fault', (socket) => atTheEnd(socket, () => socket.write('stream: Broken ERROR\0'))],
  ['talks without end', (socket) => void socket.resume().write('stream: OK '.repeat(100_000))],
  [
    'says a letter now and then',
    (socket) => {
      socket.resume();
      const talk = setInterval(() => socket.write('.'), 20);
      socket.on('close', () => clearInterval(talk));
    },
    { idleMs: 60_000, totalMs: 400 },
  ],
])('a scanner that %s has judged nothing', async (_, behave, patience = shortTimeouts) => {
  const scanner = createClamdScanner(await startFakeClamd(behave), patience);
  await expect(scanner.scan(file)).rejects.toThrow(ScannerUnavailable);
});

test('what is found counts, whenever it is said', async () => {
  const scanner = createClamdScanner(
    await startFakeClamd((socket) => void socket.write('stream: Some.Thing FOUND\0')),
  );
  expect(await scanner.scan(file)).toEqual({ status: 'infected', finding: 'Some.Thing' });
});

test('a fault of the store is none of the scanner', async () => {
  const broken = { ...file, read: () => Promise.reject(new Error('the disk does not answer')) };
  const scanner = createClamdScanner(await startFakeClamd((socket) => void socket.resume()));
  await expect(scanner.scan(broken)).rejects.toThrow('the disk does not answer');
});

test('who listens there and is no clamd is noticed', async () => {
  const url = await startFakeClamd((socket) => void socket.write('SSH-2.0-something\0'));
  await expect(pingClamd(url)).rejects.toThrow(/^unexpected response: SSH-2.0-something/);
});
