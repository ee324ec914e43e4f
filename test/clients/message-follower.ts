import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { connectWebSocket, type Frame, type WsClient } from './websocket.ts';
import type { Member } from '../support/cluster/cluster.ts';

export interface MessageFollower {
  /** The ids of the messages that came, in the order in which they came, over all connections. */
  messages(): string[];
  /** All events, in the order in which they came. */
  events(): readonly Frame[];
  /** How often the service reported lost events. */
  gaps(): number;
  /** Events that came a second time. */
  repeated(): number;
  /** How many connections it took. */
  connections(): number;
  /** Resolves when this many messages have arrived. */
  waitUntil(count: number): Promise<void>;
  /** How its first connection ended. */
  firstClose: Promise<{ code: number; reason: string }>;
}

/**
 * A WebSocket client as it should be: when its connection ends it opens another one, behind the last event that it has. With `mayMiss` it
 * continues after a gap; otherwise a gap fails the test.
 */
export async function followMessages(
  member: Member,
  addresses: () => readonly string[],
  { mayMiss = false } = {},
): Promise<MessageFollower> {
  const events: Frame[] = [];
  let client: WsClient | undefined;
  let taken = 0;
  let connections = 0;
  let gaps = 0;
  const over = new AbortController();

  function collect(): void {
    if (!client) return;
    const all = client.events();
    events.push(...all.slice(taken));
    taken = all.length;
  }

  async function open(): Promise<WsClient> {
    for (;;) {
      const urls = addresses();
      const url = urls[connections % urls.length] ?? '';
      const cursor = events.at(-1)?.cursor ?? member.start;
      try {
        const opened = await connectWebSocket(url, { token: member.token, cursor });
        if ((opened.ready.gap && !mayMiss) || !opened.ready.resumed)
          throw new Error('the service lost the position');
        if (opened.ready.gap) gaps += 1;
        connections += 1;
        taken = 0;
        return opened;
      } catch (error) {
        if (over.signal.aborted) throw error;
        await pause(50);
      }
    }
  }

  client = await open();
  const { closed: firstClose } = client;

  async function keepOpen(): Promise<void> {
    while (client && !over.signal.aborted) {
      await client.closed;
      collect();
      if (!over.signal.aborted) client = await open();
    }
  }
  const keeping = keepOpen();
  onTestFinished(async () => {
    over.abort();
    client?.disconnect();
    await keeping.catch(() => 'it could not connect again: the test says so in its own words');
  });

  const messages = () => {
    collect();
    return events.filter(({ type }) => type === 'message.created').map(({ data }) => String(data?.['id']));
  };
  return {
    messages,
    events: () => events,
    gaps: () => gaps,
    repeated: () => events.length - new Set(events.map(({ id }) => id)).size,
    connections: () => connections,
    async waitUntil(count) {
      while (!over.signal.aborted && messages().length < count) {
        await client?.waitUntil(() => messages().length >= count).catch(() => pause(50));
      }
    },
    firstClose,
  };
}
