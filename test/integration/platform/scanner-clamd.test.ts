import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { type ScannedFile, ScannerUnavailable } from '../../../src/platform/scanning/scanner.ts';
import { createClamdScanner, pingClamd } from '../../../src/platform/scanning/clamd.ts';

/** A server at the address of clamd. */
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

/** Runs after the whole file was received; an empty frame ends it. */
const atTheEnd = (socket: Socket, say: () => void): void => {
  let last = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    last = Buffer.concat([last, chunk]).subarray(-4);
    if (last.equals(Buffer.alloc(4))) say();
  });
};

const shortTimeouts = { idleMs: 300, totalMs: 60_000 };

test.each<[string, (socket: Socket) => void, typeof shortTimeouts?]>([
  ['reads and sends nothing', (socket) => void socket.pause()],
  ['reads everything and sends nothing', (socket) => void socket.resume()],
  ['disconnects immediately', (socket) => void socket.destroy()],
  ['disconnects in the middle of the file', (socket) => void socket.once('data', () => socket.destroy())],
  ['disconnects in the middle of its response', (socket) => atTheEnd(socket, () => socket.end('stream: OK'))],
  ['responds OK before it has read everything', (socket) => void socket.write('stream: OK\0')],
  ['sends an unknown response', (socket) => atTheEnd(socket, () => socket.write('220 mail\r\n\0'))],
  ['reports an error', (socket) => atTheEnd(socket, () => socket.write('stream: Broken ERROR\0'))],
  ['responds without end', (socket) => void socket.resume().write('stream: OK '.repeat(100_000))],
  [
    'sends one character at a time',
    (socket) => {
      socket.resume();
      const talk = setInterval(() => socket.write('.'), 20);
      socket.on('close', () => clearInterval(talk));
    },
    { idleMs: 60_000, totalMs: 400 },
  ],
])('a scanner that %s gives no verdict', async (_, behave, timeouts = shortTimeouts) => {
  const scanner = createClamdScanner(await startFakeClamd(behave), timeouts);
  await expect(scanner.scan(file)).rejects.toThrow(ScannerUnavailable);
});

test('a finding counts, also before the end of the file', async () => {
  const scanner = createClamdScanner(
    await startFakeClamd((socket) => void socket.write('stream: Some.Thing FOUND\0')),
  );
  expect(await scanner.scan(file)).toEqual({ status: 'infected', finding: 'Some.Thing' });
});

test('a storage error is not reported as a scanner error', async () => {
  const broken = { ...file, read: () => Promise.reject(new Error('the disk does not answer')) };
  const scanner = createClamdScanner(await startFakeClamd((socket) => void socket.resume()));
  await expect(scanner.scan(broken)).rejects.toThrow('the disk does not answer');
});

test('a server that is not clamd is detected', async () => {
  const url = await startFakeClamd((socket) => void socket.write('SSH-2.0-something\0'));
  await expect(pingClamd(url)).rejects.toThrow(/^unexpected response: SSH-2.0-something/);
});
