import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { EventType } from '../../../packages/core/src/events/list.ts';
import type { LiveEvent, Realtime, StreamEnd, StreamReader } from '../../../src/realtime/contract.ts';
import type { RealtimeParts } from '../../../src/realtime/create.ts';

type Feed = RealtimeParts['feed'];
type EventRow = Awaited<ReturnType<Feed['readEvents']>>[number];

/** A feed in memory that counts what it is counts for, and can be told to fail. */
export function createMemoryFeed() {
  const logs = new Map<string, { first: number; ids: string[]; acknowledged: number | null }>();
  const events = new Map<string, EventRow>();
  const counts = { heads: 0, bounds: 0, read: 0, events: 0 };
  let fault: Error | undefined;
  let made = 0;

  function logOf(agentId: string) {
    const log = logs.get(agentId) ?? { first: 1, ids: [], acknowledged: null };
    logs.set(agentId, log);
    return log;
  }
  async function answer<T>(question: keyof typeof counts, value: () => T): Promise<T> {
    counts[question] += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (fault) throw fault;
    return value();
  }
  const head = (agent_id: string) => {
    const log = logOf(agent_id);
    return {
      agent_id,
      last_number: log.first - 1 + log.ids.length,
      acknowledged_number: log.acknowledged,
    };
  };

  const feed: Feed = {
    readCounters: (ids) => answer('heads', () => ids.map(head)),
    readBounds: (ids) =>
      answer('bounds', () =>
        ids.map((id) => ({
          ...head(id),
          first_number: logOf(id).ids.length > 0 ? logOf(id).first : null,
          ended_stretches: null,
        })),
      ),
    read: (positions, limit) =>
      answer('read', () =>
        positions.map(({ agent_id, after }) => {
          const log = logOf(agent_id);
          const at = Math.max(0, after - log.first + 1);
          return log.ids
            .slice(at, at + limit)
            .map((event_id, index) => ({ number: log.first + at + index, event_id }));
        }),
      ),
    readStatuses: (questions) =>
      answer('heads', () =>
        questions.map(({ agent_id, after }) => {
          const { last_number, acknowledged_number } = head(agent_id);
          const start = after ?? acknowledged_number ?? 0;
          const ids = logOf(agent_id).ids.slice(start);
          const status = { last_number, acknowledged_number, start, up_to: last_number };
          return { ...status, continued: false, complete: true, ids };
        }),
      ),
    readEvents: (ids) =>
      answer('events', () =>
        ids.flatMap((id) => {
          const row = events.get(id);
          return row ? [row] : [];
        }),
      ),
    acknowledge: (positions) =>
      answer('bounds', () => {
        const passed: Awaited<ReturnType<Feed['acknowledge']>> = [];
        for (const { agent_id, number } of positions) {
          const log = logOf(agent_id);
          const before = log.acknowledged ?? -1;
          if (number > head(agent_id).last_number || number <= before) continue;
          log.acknowledged = number;
          passed.push({ agent_id, after: Math.max(before, 0), upto: number });
        }
        return passed;
      }),
    readMarks: async () => [],
    readRecipients: async () => ({ positions: {}, with_webhooks: [], thread_ids: [] }),
  };

  return {
    feed,
    counts,
    fail(error: Error | undefined) {
      fault = error;
    },
    /** Adds one event to the feeds of these agents; answers its id. */
    add(agentIds: readonly string[], type: EventType = 'thread.updated', filling = ''): string {
      made += 1;
      const id = `evt_${made}`;
      const data = {
        id: 'thd_1',
        subject: filling,
        status: 'active',
        created_by: 'agt_1',
        members: [],
        created_at: 1,
        last_message_at: null,
        updated_at: 1,
        last_sequence: 0,
      };
      events.set(id, { id, type, thread_id: 'thd_1', data, created_at: made, message: null });
      for (const agentId of agentIds) logOf(agentId).ids.push(id);
      return id;
    },
    lastPosition: (agentId: string) => head(agentId).last_number,
    idsOf: (agentId: string): readonly string[] => logOf(agentId).ids,
    /** What the process that committed this event has to tell of it. */
    commitResultOf(id: string): Parameters<Realtime['fanOut']>[0] {
      const entries = Array.from(logs, ([agent_id, { first, ids }]) => {
        return { agent_id, number: first + ids.indexOf(id), event_id: id };
      }).filter(({ agent_id }) => logOf(agent_id).ids.includes(id));
      const event = events.get(id);
      return { entries, events: event ? [event] : [] };
    },
    /** Forgets the oldest entries, as retention does. */
    dropOldest(agentId: string, count: number) {
      const log = logOf(agentId);
      log.ids.splice(0, count);
      log.first += count;
    },
    /** Takes the newest entries back, as a restored backup does. */
    rewind(agentId: string, count: number) {
      logOf(agentId).ids.splice(-count, count);
    },
  };
}

export function buildActor(agent_id: string, changes: Partial<Actor> = {}): Actor {
  return {
    agent_id,
    handle: 'ada.bot',
    owner_id: 'acc_1',
    scopes: new Set(['threads:read']),
    client_id: 'client',
    resource: 'http://localhost/ws',
    expires_at: Date.now() + 60_000,
    token_id: 'token',
    ...changes,
  };
}

/** A reader that keeps what it gets. */
export function createRecordingReader() {
  const events: LiveEvent[] = [];
  const ends: StreamEnd[] = [];
  const reader: StreamReader = {
    transport: 'ws',
    async deliver(batch) {
      events.push(...batch);
    },
    onEnded(reason) {
      ends.push(reason);
    },
  };
  return { reader, events, ends, ids: () => events.map((event) => event.id) };
}
