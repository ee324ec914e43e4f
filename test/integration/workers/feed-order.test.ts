import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { buildAgent } from '../../support/service.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';

const rounds = 12;

test('positions of a feed commit in order and without gaps, with concurrent writers and rollbacks', async () => {
  const cluster = await startTestCluster('postgres');
  const { core } = cluster;
  const [one, other] = await Promise.all([cluster.startApi(), cluster.startApi()]);
  const hub = await buildAgent(core);
  // Separate threads: only the feed of the hub serializes the writers.
  const writers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { token } = await buildAgent(core);
      const body = { participants: [hub.handle] };
      const made = await requestRest('POST', `${one.url}/v1/threads`, { token, body });
      return { token, path: `/v1/threads/${made.body.id}/messages` };
    }),
  );

  /** Polls the feed from its last position, as readers do. */
  const written = new AbortController();
  let position = 0;
  const holes: string[] = [];
  async function look(): Promise<void> {
    const text = 'select number from feed where agent_id = $1 and number > $2 order by number';
    for (const { number } of await core.database.query<{ number: number }>({ text }, [hub.id, position])) {
      if (number !== position + 1) holes.push(`${number} behind ${position}`);
      position = number;
    }
  }
  const looking = (async () => {
    while (!written.signal.aborted) await look();
    await look();
  })();

  // Both processes receive each key together: one of the two transactions fails at its end and is rolled back.
  await Promise.all(
    writers.map(async ({ token, path }) => {
      for (let round = 0; round < rounds; round += 1) {
        const key = randomUUID();
        const body = { content: String(round) };
        const answers = await Promise.all(
          [one, other].map(({ url }) => requestRest('POST', `${url}${path}`, { token, key, body })),
        );
        expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      }
    }),
  );
  written.abort();
  await looking;
  expect(holes).toEqual([]);
  const [head] = await core.db.feed.readCounters([hub.id]);
  const events = writers.length * (1 + rounds);
  expect([position, head?.last_number]).toEqual([events, events]);
  const undone = {
    text: 'select xact_rollback as count from pg_stat_database where datname = current_database()',
  };
  // A connection reports its counts at the latest when it ends.
  await Promise.all([one, other].map((api) => api.kill9()));
  await vi.waitFor(async () => {
    const [row] = await core.database.query<{ count: number }>(undone, []);
    expect(row?.count).toBeGreaterThan(0);
  }, 30_000);
});
