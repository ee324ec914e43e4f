import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { encodeTextFrames } from '../../../src/transports/ws/text-frames.ts';

test('frames of every size are decoded as they were written, in order', async () => {
  const texts = [0, 1, 125, 126, 127, 0xffff, 0x10000, 70_000].map((size) => '.'.repeat(size));
  texts.push('ä €', '𝄞', '{"type":"pong"}');
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => {
    server.close();
  });
  server.on('connection', (_, { socket }) => void socket.write(encodeTextFrames(texts)));
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => client.terminate());
  const read: string[] = [];
  client.on('message', (data: Buffer) => read.push(data.toString()));
  await expect.poll(() => read.length).toBe(texts.length);
  expect(read).toEqual(texts);
});
