import type { Channels } from './channels.ts';
import type { Realtime } from './contract.ts';
import type { EventStore } from './event-store.ts';
import type { RecentLines } from './recent-lines.ts';

export interface HandOverParts {
  channels: Pick<Channels, 'has' | 'ring'>;
  store: Pick<EventStore, 'put'>;
  recent: Pick<RecentLines, 'add'>;
  log(message: string, error: unknown): void;
}

type News = Parameters<Realtime['handOver']>[0];

/**
 * Agents that are rung in one turn of the event loop: calls under way go on in between, and an agent that more is committed for
 * meanwhile gets all of it in one packet.
 */
const ringsAtOnce = 50;

/**
 * Brings what this process committed to those who listen here, past the bus and the database. Behind the answers of the calls that
 * committed it, and all commits of one turn of the event loop together. What is lost here, the ring of the bus makes good.
 */
export function createHandOver({ channels, store, recent, log }: HandOverParts): Realtime['handOver'] {
  let waiting: News[] = [];
  /** Whom to ring, and up to which number. */
  const ringing = new Map<string, number>();
  let scheduled = false;

  function schedule(): void {
    if (scheduled || (waiting.length === 0 && ringing.size === 0)) return;
    scheduled = true;
    setImmediate(deliver);
  }

  function deliver(): void {
    scheduled = false;
    try {
      for (const news of waiting) take(news);
      waiting = [];
      let room = ringsAtOnce;
      for (const [agentId, number] of ringing) {
        if (room-- === 0) break;
        ringing.delete(agentId);
        channels.ring(agentId, number);
      }
    } catch (error) {
      waiting = [];
      log('what was committed here was not handed over; the bus rings for it', error);
    }
    schedule();
  }

  function take({ lines, events }: News): void {
    const here = lines.filter(({ agent_id }) => channels.has(agent_id));
    if (here.length === 0) return;
    const wanted = new Set(here.map(({ event_id }) => event_id));
    for (const event of events) if (wanted.has(event.id)) store.put(event);
    for (const line of here) {
      recent.add(line);
      ringing.set(line.agent_id, Math.max(line.number, ringing.get(line.agent_id) ?? 0));
    }
  }

  return (news) => {
    waiting.push(news);
    schedule();
  };
}
