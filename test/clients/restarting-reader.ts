import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import {
  createClient,
  type CursorStore,
  type EventOptions,
  memoryCursor,
} from '../../packages/client/src/node/main.ts';
import { requestRest } from './rest.ts';

/** `switching`: WebSocket and long poll in turn. */
export type ReaderTransport = 'websocket' | 'poll' | 'switching';

export interface ReaderOptions {
  url: string;
  token: string;
  transport: ReaderTransport;
  /** Default: in memory, which outlives the restarts. */
  cursor?: CursorStore;
  /** How often, for each event, the body of the loop fails: as a program that dies before its position is stored. */
  failureRate: number;
}

let attempts = 0;

/** A WebSocket that cannot be opened every other time. */
class UnreliableSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    attempts += 1;
    super(attempts % 2 === 1 ? 'ws://127.0.0.1:1' : url, protocols);
  }
}

class BodyFailure extends Error {}

/** A program that handles events by the library, fails now and then, and continues at its stored position. */
export function startRestartingReader({ url, token, transport, failureRate, ...options }: ReaderOptions) {
  const store = options.cursor ?? memoryCursor();
  const stored = new Set<string>();
  const completed = new Set<string>();
  const cursor: CursorStore = {
    load: () => store.load(),
    async save(position) {
      await store.save(position);
      stored.add(position);
    },
  };
  const client = createClient({
    url,
    auth: token,
    ...(transport === 'switching' && { webSocket: UnreliableSocket }),
  });
  const eventOptions: EventOptions = {
    cursor,
    transport: transport === 'switching' ? 'auto' : transport,
    bufferSize: 50,
    pingMs: 2_000,
    webSocketRetryMs: 200,
  };
  const report = {
    /** Ids of all handled events, in order. */
    handled: [] as string[],
    /** Ids of events that were handled again after their position was stored. */
    doubled: [] as string[],
    restarts: 0,
    connections: { websocket: 0, poll: 0 },
  };
  const stop = new AbortController();

  async function readUntilFailure(): Promise<void> {
    const events = client.events({
      ...eventOptions,
      signal: stop.signal,
      onState({ status, transport: used }) {
        if (status === 'open' && used) report.connections[used] += 1;
      },
    });
    for await (const event of events) {
      if (event.type === 'gap') throw new Error('the feed has a gap');
      if (stored.has(event.cursor)) report.doubled.push(event.id);
      report.handled.push(event.id);
      if (Math.random() < failureRate) throw new BodyFailure('the body failed');
      completed.add(event.id);
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await readUntilFailure();
      } catch (error) {
        if (!(error instanceof BodyFailure)) throw error;
        report.restarts += 1;
      }
    }
  }

  const done = run();
  return {
    report,
    /** Resolves when the reader has handled this many events without a failure. */
    async waitFor(count: number): Promise<void> {
      const state = { isOver: false };
      const ended = done.finally(() => {
        state.isOver = true;
      });
      void ended.catch(() => {}); // reported by the last line
      while (completed.size < count && !state.isOver) await pause(5);
      if (state.isOver) await ended;
    },
    async stop() {
      stop.abort();
      await done;
      return report;
    },
  };
}

/** The ids of all events in the feed of an agent, without the library. */
export async function readFeed(api: string, token: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = 'earliest', complete = false; !complete;) {
    const { body } = await requestRest('GET', `${api}/events?limit=100&cursor=${cursor}`, { token });
    ids.push(...body.events.map(({ id }: { id: string }) => id));
    ({ cursor, complete } = body);
  }
  return ids;
}
