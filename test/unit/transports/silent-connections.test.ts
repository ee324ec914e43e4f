import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer, listen } from '../../../src/transports/http/server.ts';

test('a connection whose response is never read is closed', async () => {
  const server = createHttpServer(
    // More than the buffers of the kernel hold.
    async (_request, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)),
    () => false,
    100,
  );
  await listen(server, 0, '127.0.0.1', 'PORT');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const requested = once(server, 'request');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, response] = await requested;
  expect(await once(response, 'close')).toEqual([]);
});
