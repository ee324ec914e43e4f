import { expect, test } from 'vitest';
import type { Bus } from '../../../src/platform/bus/bus.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { startRealtimeNode } from '../ws/realtime-node.ts';
import { stopAfterTest } from '../../support/use.ts';

/** A bus that drops every message, with or without an unhealthy status. */
function withoutWakeups(healthy: boolean) {
  return (bus: Bus): Bus => ({ ...bus, publish: async () => {}, isHealthy: () => healthy });
}

test.each([
  ['reports the failure', false],
  ['reports no failure', true],
])('events arrive in order while the bus drops every message and %s', async (_, healthy) => {
  const node = stopAfterTest(
    await startRealtimeNode({
      wrapBus: withoutWakeups(healthy),
      realtime: { intervals: { healthy_ms: 300, unhealthy_ms: 100 } },
    }),
  );
  const agent = await node.agent();
  const client = await connectWebSocket(node.address, { token: await node.token(agent) });
  for (let number = 0; number < 30; number += 1) await node.emit([agent], String(number));
  await client.waitUntil(() => client.events().length === 30);
  expect(client.events().map(({ data }) => data?.['subject'])).toEqual(
    Array.from({ length: 30 }, (_unused, number) => String(number)),
  );
  await client.close();
});

test('connections outlive a database that cuts every session, and miss nothing', async () => {
  const node = stopAfterTest(
    await startRealtimeNode({ realtime: { intervals: { healthy_ms: 500, unhealthy_ms: 100 } } }),
  );
  const agent = await node.agent();
  const client = await connectWebSocket(node.address, { token: await node.token(agent) });
  const sent: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    for (let number = 0; number < 10; number += 1) sent.push(await emitted(`${round}.${number}`));
    await node.database
      .query(
        { text: 'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()' },
        [],
      )
      .catch(() => 'this session ends too');
  }
  await client.waitUntil(() => client.events().length >= sent.length);
  expect(client.events().map(({ data }) => data?.['subject'])).toEqual(sent);
  await client.close();

  /** A commit without a response may have succeeded. The feed decides, so each attempt has its own name. */
  async function emitted(name: string): Promise<string> {
    for (let attempt = 0; ; attempt += 1) {
      const before = await lastNumber();
      try {
        return await node.emit([agent], `${name}.${attempt}`);
      } catch (error) {
        if ((await lastNumber()) !== before) return `${name}.${attempt}`;
        if (attempt === 20) throw error;
      }
    }
  }
  async function lastNumber(): Promise<number | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return (await node.db.feed.readCounters([agent]))[0]?.last_number;
      } catch (error) {
        if (attempt === 20) throw error;
      }
    }
  }
});
