import { rest } from './rest-client.ts';

export interface FeedEvent {
  type: string;
  id: string;
  cursor: string;
  // The tests say what they expect of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
}

/** From now on: each call answers the events of the token's feed since the last one. */
export async function followFeed(api: string, token: string): Promise<() => Promise<FeedEvent[]>> {
  let { cursor } = await page(api, token);
  return async () => {
    const events: FeedEvent[] = [];
    for (;;) {
      const next = await page(api, token, cursor);
      events.push(...next.events);
      cursor = next.cursor;
      if (next.complete) return events;
    }
  };
}

async function page(api: string, token: string, cursor?: string) {
  const from = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const answer = await rest('GET', `${api}/events?limit=100${from}`, { token });
  if (answer.status !== 200) throw new Error(`the feed answers ${answer.status} ${answer.text}`);
  return answer.body as { events: FeedEvent[]; cursor: string; complete: boolean };
}
