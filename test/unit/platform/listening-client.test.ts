import { createServer } from 'node:net';
import { PostgresConnection } from 'bullmq';
import { expect, test } from 'vitest';
import { createListeningClient } from '../../../src/platform/queues/postgres.ts';
import { listen } from '../../support/servers/listen.ts';
import { stopAfterTest } from '../../support/use.ts';

/** One message of the PostgreSQL protocol. */
function encodeMessage(type: string, body: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), size, body]);
}

test('an error that arrives together with the end of the handshake makes connect reject', async () => {
  const handshake = Buffer.concat([
    encodeMessage('R', Buffer.alloc(4)),
    encodeMessage('Z', Buffer.from('I')),
    encodeMessage('E', Buffer.from('SFATAL\0C57P01\0Mshutting down\0\0')),
  ]);
  const server = createServer((socket) => socket.once('data', () => socket.end(handshake)));
  const { port } = stopAfterTest(await listen(server));
  const client = createListeningClient({ host: '127.0.0.1', port, user: 'test', database: 'test' });
  await expect(client.connect()).rejects.toThrow('shutting down');
});

test('BullMQ creates its listening client from the redefined member', async () => {
  const connection = new PostgresConnection({ connectionString: 'postgres://localhost/test' });
  expect(connection).toHaveProperty('pgModule.Client');
  await connection.close();
});
