import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { useSharedService } from '../../support/service.ts';

const service = useSharedService();

/** One connection; `ask` writes a request and answers what comes back, head and body. */
async function converse() {
  const socket = connectTcp(Number(new URL(service.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  // A connection that is cut may end with a reset.
  const closed = new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
  return {
    closed,
    /** Writes several requests at once. */
    write(requests: string[][]): void {
      socket.write(requests.map((lines) => `${lines.join('\r\n')}\r\n\r\n`).join(''));
    },
    async ask(lines: string[], body = ''): Promise<string> {
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
      for (;;) {
        const answer = whole(received);
        if (answer !== undefined) {
          received = received.slice(answer.length);
          return Buffer.from(answer, 'latin1').toString();
        }
        await once(socket, 'data');
      }
    },
  };
}

/** The first answer in bytes that are kept as Latin-1, once it is there to its end. */
function whole(text: string): string | undefined {
  const head = text.indexOf('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
  const end = head + 4 + length;
  return head >= 0 && text.length >= end ? text.slice(0, end) : undefined;
}

const h2c = [
  'Host: localhost',
  'Connection: Upgrade, HTTP2-Settings',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
];

test('an unknown upgrade is ignored, and the connection stays usable', async () => {
  const { ask } = await converse();
  expect(await ask(['GET /livez HTTP/1.1', ...h2c])).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(await ask(['GET /livez HTTP/1.1', 'Host: localhost'])).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  const other = ['Host: localhost', 'Connection: upgrade', 'Upgrade: TLS/1.0'];
  expect(await ask(['GET /ws HTTP/1.1', ...other])).toMatch(/^HTTP\/1\.1 404 /);
});

test('the body and the other headers of an unknown upgrade arrive', async () => {
  const { ask, closed } = await converse();
  const { token } = await service.agent();
  const peer = await service.agent();
  const body = JSON.stringify({ with_handle: peer.handle, subject: 'Où est le café?' });
  const common = [
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Idempotency-Key: upgraded',
  ];
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const made = await ask(['POST /v1/threads HTTP/1.1', ...h2c, ...common, length], body);
  expect(made).toMatch(/^HTTP\/1\.1 201 /);
  expect(made).toContain('Où est le café?');
  const last = ['Host: localhost', 'Connection: close, Upgrade', 'Upgrade: h2c'];
  expect(await ask(['GET /livez HTTP/1.1', ...last])).toMatch(/^connection: close/im);
  await closed;
});

test.each([
  ['h2c', h2c],
  ['websocket', ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket']],
])(
  'an upgrade to %s before earlier responses are sent ends the connection, and affects no other client',
  async (_, lines) => {
    const { closed, write } = await converse();
    const upgrade = ['GET /readyz HTTP/1.1', ...lines];
    write([['GET /readyz HTTP/1.1', 'Host: localhost'], upgrade, upgrade]);
    await closed;
    const other = await converse();
    expect(await other.ask(['GET /livez HTTP/1.1', ...h2c])).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  },
);

test('a client that requests an upgrade every time affects no other client', async () => {
  const warned = vi.fn();
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const { ask } = await converse();
  for (let number = 0; number < 25; number += 1) {
    expect(await ask(['GET /livez HTTP/1.1', ...h2c])).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  }
  expect(warned).not.toHaveBeenCalled();
});
