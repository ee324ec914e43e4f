import { once } from 'node:events';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createInbox, type Inbox } from './inbox.ts';

const frame = z.looseObject({
  type: z.string(),
  cursor: z.string().optional(),
  data: z.looseObject({ id: z.string().optional(), content: z.string().optional() }).optional(),
});
const ready = z.looseObject({
  type: z.literal('ready'),
  data: z.looseObject({ cursor: z.string(), resumed: z.boolean(), gap: z.boolean() }),
});

export type Frame = z.infer<typeof frame>;

export interface LiveSocket {
  ready: z.infer<typeof ready>['data'];
  /** All frames, including the first one. */
  inbox: Inbox<Frame>;
  /** The cursor for the next connection. */
  cursor(): string;
  close(): Promise<void>;
}

/** Opens the WebSocket of an agent and waits for its ready frame. */
export async function openSocket(base: string, token: string, cursor?: string): Promise<LiveSocket> {
  const url = new URL(`${base.replace(/^http/, 'ws')}/ws`);
  if (cursor !== undefined) url.searchParams.set('cursor', cursor);
  const ws = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` }, handshakeTimeout: 5_000 });
  const inbox = createInbox<Frame>();
  ws.on('message', (data: Buffer) => inbox.put(frame.parse(JSON.parse(data.toString()))));
  await once(ws, 'open');
  ws.on('error', () => undefined); // the wait for the next frame fails
  const { item } = await inbox.first('the ready frame', ({ type }) => type === 'ready');
  const { data } = ready.parse(item);
  return {
    ready: data,
    inbox,
    cursor: () => inbox.arrivals.findLast(({ item: { cursor: last } }) => last)?.item.cursor ?? data.cursor,
    async close() {
      if (ws.readyState === ws.CLOSED) return;
      const closed = once(ws, 'close');
      ws.close();
      await closed;
    },
  };
}
