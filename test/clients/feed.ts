import type { Core } from '../../src/compose.ts';
import { requestRest } from './rest.ts';

export interface FeedEvent {
  type: string;
  id: string;
  cursor: string;
  // The tests say what they expect of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
}

/**
 * From now on: each call answers the events of the token's feed since the last one. Receipts are left out: to look is to take
 * what there is, so that they come of themselves, at a time that no test knows.
 */
export async function followFeed(api: string, token: string): Promise<() => Promise<FeedEvent[]>> {
  let { cursor } = await readPage(api, token);
  return async () => {
    const events: FeedEvent[] = [];
    for (;;) {
      const next = await readPage(api, token, cursor);
      events.push(...next.events.filter(({ type }) => type !== 'message.delivered'));
      cursor = next.cursor;
      if (next.complete) return events;
    }
  };
}

async function readPage(api: string, token: string, cursor?: string) {
  const from = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const answer = await requestRest('GET', `${api}/events?limit=100${from}`, { token });
  if (answer.status !== 200) throw new Error(`the feed answers ${answer.status} ${answer.text}`);
  return answer.body as { events: FeedEvent[]; cursor: string; complete: boolean };
}

/** Everything in the feed of an agent, read from the database, so the position does not change. */
export async function readAllEvents(core: Core, agent: { id: string } | undefined): Promise<FeedEvent[]> {
  const text = `select e.type, e.id, e.data from feed f join events e on e.id = f.event_id where f.agent_id = $1 order by f.number`;
  const rows = await core.database.query<Omit<FeedEvent, 'cursor'>>({ text }, [agent?.id]);
  return rows.map((row) => ({ ...row, cursor: '' }));
}
