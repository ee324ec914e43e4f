import { setTimeout as pause } from 'node:timers/promises';
import type { Cursors } from '../../src/domain/cursors.ts';
import { oneLine } from '../../src/embedded/launcher-error.ts';
import type { Arrival, Door } from './doors/door.ts';
import { eventStream } from './doors/event-stream.ts';
import { longPoll } from './doors/long-poll.ts';
import { webSocket } from './doors/web-socket.ts';
import type { ReaderHistory } from './history.ts';
import type { Agent } from './population.ts';

const doors = { WebSocket: webSocket, 'MCP stream': eventStream, 'long poll': longPoll } satisfies Record<
  string,
  Door
>;

export type DoorName = keyof typeof doors;

export const doorNames = Object.keys(doors) as DoorName[];

export interface Reader {
  history: ReaderHistory;
  /** The number of the last event that it took. */
  position(): number;
  /** Leaves. */
  stop(): Promise<void>;
}

export interface ReaderParts {
  base: string;
  cursors: Cursors;
  agent: Agent;
  /** Where it begins. */
  cursor: string;
  /** It goes from one to the next with each connection. */
  at: readonly DoorName[];
}

/** How long a reader waits before it comes back, in milliseconds. */
const rest_ms = 100;

/** A reader as it should be: when its connection ends it opens another one, behind the last event that it has. */
export function startReader({ base, cursors, agent, at, ...parts }: ReaderParts): Reader {
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
  const complain = (what: string) => void history.complaints.push(what);

  function take({ cursor: behind, ...event }: Arrival): void {
    history.seen.push({ ...event, number: numberIn(behind), at: Date.now() });
    cursor = behind;
  }

  function numberIn(behind: string): number {
    try {
      return cursors.decodeFeed(agent.id, behind);
    } catch (error) {
      complain(`${behind} is no position of ${agent.id}: ${oneLine(error)}`);
      return Number.NaN;
    }
  }

  async function stay(): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const name = at[turn % at.length] ?? 'WebSocket';
      history.connections[name] = (history.connections[name] ?? 0) + 1;
      await doors[name]({
        base,
        agent,
        cursor,
        complain,
        signal,
        take,
      });
      await pause(rest_ms);
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
