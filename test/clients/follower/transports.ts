import { z } from 'zod';
import { openSseStream } from '../sse.ts';
import { requestRest } from '../rest.ts';
import { connectWebSocket } from '../websocket.ts';
import type { FeedEvent } from './fold.ts';

/** An event with its cursor. */
export interface PositionedEvent extends FeedEvent {
  id: string;
  cursor: string;
}

/** Where a feed can be read. */
export interface FeedAccess {
  url: string;
  /** Of the agent: for REST and the WebSocket, and for the tool server. */
  tokens: { api: string; mcp: string };
}

export interface OpenTransport {
  /** The next events, at least one. Rejects when none comes. */
  next(): Promise<readonly PositionedEvent[]>;
  /** Leaves without a word. */
  close(): void;
}

type OpenTransportAt = (place: FeedAccess, cursor: string) => Promise<OpenTransport>;

async function openWebSocket({ url, tokens }: FeedAccess, cursor: string): Promise<OpenTransport> {
  const client = await connectWebSocket(url, { token: tokens.api, cursor });
  if (!client.ready.resumed || client.ready.gap)
    throw new Error('the WebSocket does not start at the cursor');
  let taken = 0;
  return {
    async next() {
      await client.waitUntil(() => client.events().length > taken);
      const events = client.events().slice(taken);
      taken += events.length;
      return events.map(({ type, id = '', cursor: at = '', data }) => ({ type, id, cursor: at, data }));
    },
    close: () => client.disconnect(),
  };
}

const notification = z.object({
  method: z.string(),
  params: z.looseObject({ _meta: z.object({ event_id: z.string(), cursor: z.string() }) }),
});

async function openMcpStream({ url, tokens }: FeedAccess, cursor: string): Promise<OpenTransport> {
  const headers = { Authorization: `Bearer ${tokens.mcp}`, Accept: 'text/event-stream' };
  const stream = await openSseStream(`${url}/mcp`, { ...headers, 'Last-Event-ID': cursor });
  let taken = 0;
  return {
    async next() {
      const events = (await stream.events(taken + 1)).slice(taken);
      taken += events.length;
      return events.map(({ data }) => {
        const { method, params } = notification.parse(JSON.parse(data));
        const { _meta: meta, ...own } = params;
        const type = method.replace('notifications/service/', '').replace('_', '.');
        return { type, id: meta.event_id, cursor: meta.cursor, data: own };
      });
    },
    close: () => stream.close(),
  };
}

async function openLongPoll({ url, tokens }: FeedAccess, cursor: string): Promise<OpenTransport> {
  let position = cursor;
  return {
    async next() {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        const query = new URLSearchParams({ cursor: position, wait: '2' });
        const { body } = await requestRest('GET', `${url}/v1/events?${query.toString()}`, {
          token: tokens.api,
        });
        if (body.gap) throw new Error('the long poll does not start at the cursor');
        position = body.cursor;
        if (body.events.length > 0) return body.events;
      }
      throw new Error('no event came');
    },
    close: () => undefined,
  };
}

/** Every transport that can follow a feed. */
export const transportOpeners = {
  webSocket: openWebSocket,
  mcpStream: openMcpStream,
  longPoll: openLongPoll,
} satisfies Record<string, OpenTransportAt>;

export type FeedTransport = keyof typeof transportOpeners;

/** The end of a feed, as it is now. */
export async function readCurrentCursor({ url, tokens }: FeedAccess): Promise<string> {
  return (await requestRest('GET', `${url}/v1/events`, { token: tokens.api })).body.cursor;
}
