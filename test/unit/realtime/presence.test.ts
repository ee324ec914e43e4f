import { expect, onTestFinished, test } from 'vitest';
import { createPresence, type PresenceParts } from '../../../src/realtime/presence.ts';
import { waitUntil } from './setup.ts';

/** The rows of one process in memory. It can fail before or after its effect, and forget. */
function store() {
  const rows = new Set<string>();
  const statements: string[] = [];
  const state: { fault: 'none' | 'before' | 'after'; known: boolean } = { fault: 'none', known: false };
  async function statement(name: string, effect: () => void): Promise<void> {
    statements.push(name);
    await new Promise((resolve) => setImmediate(resolve));
    if (state.fault === 'before') throw new Error('away');
    effect();
    if (state.fault === 'after') throw new Error('away');
  }
  const parts: PresenceParts['store'] = {
    insert: (_, agents) =>
      statement('insert', () => {
        rows.clear();
        for (const agent of agents) rows.add(agent);
        state.known = true;
      }),
    async update(_, { arrived, left }) {
      await statement('update', () => {
        if (!state.known) return;
        for (const agent of arrived) rows.add(agent);
        for (const agent of left) rows.delete(agent);
      });
      return state.known;
    },
    remove: () =>
      statement('remove', () => {
        rows.clear();
        state.known = false;
      }),
  };
  return { parts, rows, statements, state };
}

function setUp() {
  const memory = store();
  const logged: string[] = [];
  const intervals = { heartbeat_ms: 20, batch_wait_ms: 5 };
  const presence = createPresence({
    store: memory.parts,
    log: (message) => void logged.push(message),
    intervals,
  });
  onTestFinished(() => presence.close());
  return { ...memory, presence, logged };
}

/** As long as it takes another process that holds somebody to say so three times more. */
async function waitForHeartbeats(): Promise<void> {
  const { presence, statements } = setUp();
  presence.change('agt_clock', true);
  await waitUntil(() => expect(statements.length).toBeGreaterThan(4));
}

const agents = (count: number) => Array.from({ length: count }, (_, index) => `agt_${index}`);

test('two thousand agents that connect or disconnect together are one statement each time', async () => {
  const { presence, rows, statements } = setUp();
  for (const agent of agents(2_000)) presence.change(agent, true);
  await waitUntil(() => expect(rows.size).toBe(2_000));
  expect(statements).toEqual(['insert']);
  for (const agent of agents(2_000)) presence.change(agent, false);
  await waitUntil(() => expect(rows.size).toBe(0));
  expect(statements.filter((name) => name === 'insert')).toHaveLength(1);
});

test('more agents than one statement takes are written by several', async () => {
  const { presence, rows } = setUp();
  presence.change('agt_first', true);
  await waitUntil(() => expect(rows.size).toBe(1));
  for (const agent of agents(12_000)) presence.change(agent, true);
  await waitUntil(() => expect(rows.size).toBe(12_001));
});

test('a failed write is repeated until it succeeds, and logged once', async () => {
  for (const fault of ['before', 'after'] as const) {
    const { presence, rows, state, statements, logged } = setUp();
    presence.change('agt_stays', true);
    presence.change('agt_goes', true);
    await waitUntil(() => expect(rows.size).toBe(2));
    state.fault = fault;
    presence.change('agt_goes', false);
    presence.change('agt_comes', true);
    const before = statements.length;
    await waitUntil(() => expect(statements.length).toBeGreaterThan(before + 3));
    presence.change('agt_late', true);
    presence.change('agt_comes', false);
    state.fault = 'none';
    await waitUntil(() => expect([...rows].toSorted()).toEqual(['agt_late', 'agt_stays']));
    expect(logged).toHaveLength(1);
  }
});

test('a process whose rows were removed writes all of them again', async () => {
  const { presence, rows, state } = setUp();
  for (const agent of agents(3)) presence.change(agent, true);
  await waitUntil(() => expect(rows.size).toBe(3));
  rows.clear();
  state.known = false;
  await waitUntil(() => expect([...rows].toSorted()).toEqual(agents(3)));
});

test('a process without connections writes nothing', async () => {
  const { presence, rows, statements } = setUp();
  presence.change('agt_1', true);
  await waitUntil(() => expect(statements.length).toBeGreaterThan(2));
  presence.change('agt_1', false);
  await waitUntil(() => expect(rows.size).toBe(0));
  const count = statements.length;
  await waitForHeartbeats();
  expect(statements).toHaveLength(count);
});

test('a stop removes all rows, and nothing is written after it', async () => {
  const { presence, rows, state, statements } = setUp();
  for (const agent of agents(5)) presence.change(agent, true);
  await waitUntil(() => expect(rows.size).toBe(5));
  await presence.close();
  expect([rows.size, state.known]).toEqual([0, false]);
  const count = statements.length;
  presence.change('agt_late', true);
  await waitForHeartbeats();
  expect(statements).toHaveLength(count);
});
