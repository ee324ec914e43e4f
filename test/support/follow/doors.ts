import { z } from 'zod';
import { openSse } from '../../integration/mcp/sse-client.ts';
import { rest } from '../rest-client.ts';
import { connect } from '../ws-client.ts';
import type { FeedEvent } from './fold.ts';

/** An event with the position behind it. */
export interface PlacedEvent extends FeedEvent {
  id: string;
  cursor: string;
}

/** Where a feed can be read. */
export interface Place {
  url: string;
  /** Of the agent: for REST and the WebSocket, and for the tool server. */
  tokens: { api: string; mcp: string };
}

export interface OpenDoor {
  /** The next events, at least one. Rejects when none comes. */
  next(): Promise<readonly PlacedEvent[]>;
  /** Leaves without a word. */
  leave(): void;
}

type OpenAt = (place: Place, cursor: string) => Promise<OpenDoor>;

async function webSocket({ url, tokens }: Place, cursor: string): Promise<OpenDoor> {
  const client = await connect(url, { token: tokens.api, cursor });
  if (!client.ready.resumed || client.ready.gap)
    throw new Error('the WebSocket does not start at the cursor');
  let taken = 0;
  return {
    async next() {
      await client.until(() => client.events().length > taken);
      const events = client.events().slice(taken);
      taken += events.length;
      return events.map(({ type, id = '', cursor: at = '', data }) => ({ type, id, cursor: at, data }));
    },
    leave: () => client.cut(),
  };
}

const notification = z.object({
  method: z.string(),
  params: z.looseObject({ _meta: z.object({ event_id: z.string(), cursor: z.string() }) }),
});

async function mcpStream({ url, tokens }: Place, cursor: string): Promise<OpenDoor> {
  const headers = { Authorization: `Bearer ${tokens.mcp}`, Accept: 'text/event-stream' };
  const stream = await openSse(`${url}/mcp`, { ...headers, 'Last-Event-ID': cursor });
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
    leave: () => stream.close(),
  };
}

async function longPoll({ url, tokens }: Place, cursor: string): Promise<OpenDoor> {
  let position = cursor;
  return {
    async next() {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        const query = new URLSearchParams({ cursor: position, wait: '2' });
        const { body } = await rest('GET', `${url}/v1/events?${query.toString()}`, { token: tokens.api });
        if (body.gap) throw new Error('the long poll does not start at the cursor');
        position = body.cursor;
        if (body.events.length > 0) return body.events;
      }
      throw new Error('no event came');
    },
    leave: () => undefined,
  };
}

/** Every door through which a feed can be read on and on. */
export const openDoors = { webSocket, mcpStream, longPoll } satisfies Record<string, OpenAt>;

export type FeedDoor = keyof typeof openDoors;

/** The end of a feed, as it is now. */
export async function cursorNow({ url, tokens }: Place): Promise<string> {
  return (await rest('GET', `${url}/v1/events`, { token: tokens.api })).body.cursor;
}
