import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { openKeepAliveConnection } from '../../../bench/load/http-client.ts';
import { runLoad } from '../../../bench/load/run-load.ts';
import { withTimeout } from '../../../bench/start/with-timeout.ts';
import { listen } from '../../support/servers/listen.ts';
import { stopAfterTest } from '../../support/use.ts';

const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const request = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n';

async function serve(onRequest: (socket: Socket) => void) {
  const server = createServer((socket) =>
    socket.on('data', () => onRequest(socket)).on('error', () => undefined),
  );
  return stopAfterTest(await listen(server));
}

test('the next request opens a connection that the server closed while it was idle', async () => {
  let taken: Socket | undefined;
  const { url: base } = await serve((socket) => {
    taken = socket;
    socket.write(answer);
  });
  const connection = openKeepAliveConnection(base);
  expect(await connection.send(request)).toEqual({ status: 200, body: 'ok' });
  const first = taken;
  if (!first) throw new Error('no request arrived');
  // A server may say why it closes, as for a request that did not arrive in time.
  first.end('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n');
  await once(first, 'close');
  expect(await connection.send(request)).toEqual({ status: 200, body: 'ok' });
  expect(taken).not.toBe(first);
  connection.close();
});

test('a request fails at once when its connection ends before the answer, and so do all lanes', async () => {
  const { url: base } = await serve((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
  );
  const forever = new AbortController();
  const lanes = runLoad({ lanes: 4, signal: forever.signal }, () =>
    openKeepAliveConnection(base).send(request),
  );
  await expect(lanes).rejects.toThrow('the API closed a connection before the response');
});

test('a wait ends with its result or with the reason of its cancellation', async () => {
  const never = new Promise<void>(() => undefined);
  await expect(withTimeout('the moon', 1, never)).rejects.toThrow('waited 0.001 s for the moon');
  const over = new AbortController();
  over.abort(new Error('interrupted'));
  const broken = Promise.reject(new Error('handled by the test'));
  await expect(withTimeout('the moon', 60_000, broken, over.signal)).rejects.toThrow();
});
