import type { Client, ConnectionState, CursorStore, FeedEvent } from '../../packages/client/src/main.ts';
import { createInbox, type Inbox } from './inbox.ts';

export interface LiveEvents {
  /** All events of this connection. */
  inbox: Inbox<FeedEvent>;
  /** Ends the loop. The position of the last event is stored then. */
  close(): Promise<void>;
}

/** Receives the events of an agent, from the stored position or from now on. Resolves when the connection is open. */
export async function openEvents(
  client: Client,
  transport: 'websocket' | 'poll',
  cursor: CursorStore,
): Promise<LiveEvents> {
  const inbox = createInbox<FeedEvent>();
  const states = createInbox<ConnectionState>();
  const stop = new AbortController();

  async function read(): Promise<void> {
    const { signal } = stop;
    const onState = (state: ConnectionState) => states.put(state);
    for await (const event of client.events({ transport, start: 'latest', cursor, signal, onState })) {
      if (event.type === 'gap') throw new Error('events are missing');
      inbox.put(event);
    }
  }

  const reading = read();
  reading.catch(() => undefined); // reported by close; until then, the wait for the next event fails
  await states.first('the connection', ({ status }) => status === 'open');
  return {
    inbox,
    async close() {
      stop.abort();
      await reading;
    },
  };
}
