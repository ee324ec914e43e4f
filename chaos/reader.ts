import { setTimeout as pause } from 'node:timers/promises';
import type { Cursors } from '../src/work/cursors.ts';
import { toOneLine } from '../src/embedded/launcher-error.ts';
import type { createEventPool, ReceivedEvent } from './event.ts';
import type { Transport } from './transports/transport.ts';
import { readEventStream } from './transports/event-stream.ts';
import { readLongPoll } from './transports/long-poll.ts';
import { readWebSocket } from './transports/websocket.ts';
import type { ReaderHistory } from './history.ts';
import type { Agent } from './load/population.ts';

const transports = {
  WebSocket: readWebSocket,
  'MCP stream': readEventStream,
  'long poll': readLongPoll,
} satisfies Record<string, Transport>;

export type TransportName = keyof typeof transports;

export const transportNames = Object.keys(transports) as TransportName[];

export interface Reader {
  history: ReaderHistory;
  /** The number of the last event that it received. */
  position(): number;
  /** Closes the connection and stops. */
  stop(): Promise<void>;
}

export interface ReaderOptions {
  base: string;
  cursors: Cursors;
  agent: Agent;
  /** The cursor of its first connection. */
  cursor: string;
  /** The transports, used in rotation, one per connection. */
  at: readonly TransportName[];
  /** Replaces data that another reader has received too. */
  pool: ReturnType<typeof createEventPool>;
}

/** How long a reader waits before it reconnects, in milliseconds. */
const reconnectDelayMs = 100;

/** Starts a correct client: when its connection ends, it reconnects with the cursor of the last event that it received. */
export function startReader({ base, cursors, agent, at, pool, ...parts }: ReaderOptions): Reader {
  const stopping = new AbortController();
  const { signal } = stopping;
  let { cursor } = parts;
  const start = cursors.decodeFeed(agent.id, cursor);
  const history: ReaderHistory = {
    agent_id: agent.id,
    name: at.join(', then '),
    start,
    seen: [],
    connections: {},
    complaints: [],
  };
  const onComplaint = (what: string) => void history.complaints.push(what);

  function onEvent({ cursor: eventCursor, ...event }: ReceivedEvent & { cursor: string }): void {
    history.seen.push({ ...pool(event), number: numberIn(eventCursor), at: Date.now() });
    cursor = eventCursor;
  }

  function numberIn(eventCursor: string): number {
    try {
      return cursors.decodeFeed(agent.id, eventCursor);
    } catch (error) {
      onComplaint(`${eventCursor} is not a position in the feed of ${agent.id}: ${toOneLine(error)}`);
      return Number.NaN;
    }
  }

  async function run(): Promise<void> {
    for (let connection = 0; !signal.aborted; connection += 1) {
      const name = at[connection % at.length] ?? 'WebSocket';
      history.connections[name] = (history.connections[name] ?? 0) + 1;
      await transports[name]({
        base,
        agent,
        cursor,
        onComplaint,
        signal,
        onEvent,
      });
      await pause(reconnectDelayMs);
    }
  }
  const running = run();

  return {
    history,
    position: () => history.seen.at(-1)?.number ?? start,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
