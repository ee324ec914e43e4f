import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Connection } from './transport.ts';

const frame = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  cursor: z.string().optional(),
  created_at: z.int().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});

/** How often the reader sends a ping, and how long it waits without any frame before it closes the socket. */
const heartbeat = { intervalMs: 1_000, timeoutMs: 3_000 };

/** Reads a WebSocket until it ends or is idle for too long. */
export function readWebSocket({
  base,
  agent,
  cursor,
  onEvent,
  onComplaint,
  signal,
}: Connection): Promise<void> {
  const url = new URL(`${base.replace(/^http/, 'ws')}/ws`);
  url.searchParams.set('cursor', cursor);
  const headers = { Authorization: `Bearer ${agent.tokens.api}` };
  const ws = new WebSocket(url, { headers, perMessageDeflate: false, handshakeTimeout: heartbeat.timeoutMs });
  const terminate = () => ws.terminate();
  let last = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - last > heartbeat.timeoutMs) terminate();
    else if (ws.readyState === WebSocket.OPEN) ws.send('{"type":"ping"}');
  }, heartbeat.intervalMs);
  signal.addEventListener('abort', terminate, { once: true });

  ws.on('message', (bytes: Buffer) => {
    last = Date.now();
    const {
      type,
      id,
      cursor: position,
      created_at = null,
      data = {},
    } = frame.parse(JSON.parse(bytes.toString()));
    if (id !== undefined && position !== undefined) {
      onEvent({ event_id: id, type, cursor: position, created_at, data });
    } else if (type === 'ready') {
      const same = data['cursor'] === cursor && data['resumed'] === true && data['gap'] === false;
      if (!same) onComplaint(`ready after ${cursor}: ${JSON.stringify(data)}`);
    } else if (type !== 'pong') onComplaint(`frame ${bytes.toString().slice(0, 200)}`);
  });
  ws.on('unexpected-response', (_request, response) => {
    const status = response.statusCode ?? 0;
    if (status !== 503) onComplaint(`the handshake got status ${status}`);
    terminate();
  });
  ws.on('error', terminate); // `close` follows
  return new Promise((resolve) => {
    ws.once('close', () => {
      clearInterval(timer);
      signal.removeEventListener('abort', terminate);
      resolve();
    });
  });
}
