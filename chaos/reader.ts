import { setTimeout as pause } from 'node:timers/promises';
import type { Cursors } from '../src/domain/feed/cursors.ts';
import { toOneLine } from '../src/embedded/launcher-error.ts';
import type { ReceivedEvent, Transport } from './transports/transport.ts';
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
  /** The number of the last event that it took. */
  position(): number;
  /** Leaves. */
  stop(): Promise<void>;
}

export interface ReaderOptions {
  base: string;
  cursors: Cursors;
  agent: Agent;
  /** Where it begins. */
  cursor: string;
  /** It goes from one to the next with each connection. */
  at: readonly TransportName[];
}

/** How long a reader waits before it comes back, in milliseconds. */
const reconnectDelayMs = 100;

/** A reader as it should be: when its connection ends it opens another one, behind the last event that it has. */
export function startReader({ base, cursors, agent, at, ...parts }: ReaderOptions): Reader {
  const leave = new AbortController();
  const { signal } = leave;
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

  function onEvent({ cursor: behind, ...event }: ReceivedEvent): void {
    history.seen.push({ ...event, number: numberIn(behind), at: Date.now() });
    cursor = behind;
  }

  function numberIn(behind: string): number {
    try {
      return cursors.decodeFeed(agent.id, behind);
    } catch (error) {
      onComplaint(`${behind} is no position of ${agent.id}: ${toOneLine(error)}`);
      return Number.NaN;
    }
  }

  async function stay(): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const name = at[turn % at.length] ?? 'WebSocket';
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
  const staying = stay();

  return {
    history,
    position: () => history.seen.at(-1)?.number ?? start,
    async stop() {
      leave.abort();
      await staying;
    },
  };
}
