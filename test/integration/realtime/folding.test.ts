import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { scopes } from '../../../src/domain/scopes.ts';
import {
  cursorNow,
  type FeedDoor,
  openDoors,
  type Place,
  type PlacedEvent,
} from '../../support/follow/doors.ts';
import { follow, type Stay } from '../../support/follow/follower.ts';
import { readState, type State } from '../../support/follow/state.ts';
import { rest } from '../../support/rest-client.ts';
import { kinOf } from '../../support/trust.ts';
import { startService, type TestAgent, type TestService } from '../../support/service.ts';
import { anyMoves, beginning, createMover, type Move } from './folding/moves.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const runs = Number(process.env['FOLD_RUNS'] ?? 5);

const agentsAtOnce = 4;
const mostMoves = 80;

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

interface Resident extends TestAgent {
  place: Place;
}

/** Four agents, two of them of one owner: these become contacts as soon as one asks. */
async function residents(): Promise<Resident[]> {
  const strangers = await Promise.all([1, 2, 3].map(() => service.agent({ scopes })));
  const [first] = strangers;
  const agents = first ? [...strangers, await kinOf(service, first, { scopes })] : [];
  const settle = async (agent: TestAgent): Promise<Resident> => {
    const mcp = await service.token(agent.handle, { door: 'mcp', scopes });
    return { ...agent, place: { url: service.url, tokens: { api: agent.token, mcp } } };
  };
  return Promise.all(agents.map(settle));
}

const doorNames = Object.keys(openDoors) as FeedDoor[];

/** Ways through the doors: for each door one that ends there, after any stays elsewhere, or none. */
const anyWays = fc
  .array(
    fc.array(fc.record({ door: fc.constantFrom(...doorNames), take: fc.integer({ min: 1, max: 12 }) }), {
      maxLength: 3,
    }),
    { minLength: doorNames.length, maxLength: doorNames.length },
  )
  .map((ways) =>
    ways.map((stays, index): Stay[] => [...stays, { door: doorNames[index] ?? 'longPoll', take: Infinity }]),
  );

interface Reader {
  agent: Resident;
  state: State;
  /** The ids of the events that it took, once it has seen the last one. */
  ids: Promise<string[]>;
}

const mark = 'the last event of this feed';

/** Readers of every agent, one for each way, all from the same cursor and state on. */
async function startReaders(agents: readonly Resident[], ways: readonly Stay[][]): Promise<Reader[]> {
  const isLast = ({ type, data }: PlacedEvent) => type === 'agent.updated' && data.description === mark;
  const readers = agents.map(async (agent) => {
    const cursor = await cursorNow(agent.place);
    const known = await readState(service.api, agent.token);
    return ways.map((stays): Reader => {
      const state = structuredClone(known);
      const ids = follow(agent.place, state, cursor, stays, isLast);
      // Whoever waits for it later hears of what went wrong meanwhile.
      ids.catch(() => undefined);
      return { agent, state, ids };
    });
  });
  return (await Promise.all(readers)).flat();
}

/** Makes the moves of each agent in their order, and those of different agents at once. */
async function play(agents: readonly TestAgent[], moves: readonly Move[], threads: string[]): Promise<void> {
  const make = createMover(service.api, agents, threads);
  await Promise.all(
    agents.map(async (_, index) => {
      for (const move of moves.filter(({ by }) => by === index)) await make(move);
    }),
  );
}

async function end(agents: readonly TestAgent[]): Promise<void> {
  const body = { description: mark };
  await Promise.all(agents.map(({ token }) => rest('PATCH', `${service.api}/agents/me`, { token, body })));
}

function shown({ profile, threads, contacts }: State) {
  return { profile, threads: Object.fromEntries(threads), contacts: Object.fromEntries(contacts) };
}

/** How far each member has read, of those that a reader knows of. */
function readMarks({ receipts }: State, known: State): Record<string, Record<string, number | undefined>> {
  return Object.fromEntries(
    [...known.receipts].map(([thread, marks]) => [
      thread,
      Object.fromEntries([...marks.keys()].map((id) => [id, receipts.get(thread)?.get(id)?.read])),
    ]),
  );
}

test('state and events make state: at every door, and from door to door', { timeout: 120_000 }, async () => {
  const counts = { runs: 0, moves: 0, events: 0, threads: 0, contacts: 0 };
  const property = fc.asyncProperty(anyMoves(agentsAtOnce, mostMoves), anyWays, async (moves, ways) => {
    const agents = await residents();
    const threads: string[] = [];
    const early = await startReaders(agents, ways);
    const half = Math.ceil(moves.length / 2);
    await play(agents, beginning, threads);
    await play(agents, moves.slice(0, half), threads);
    // Some begin in the middle of it all: what they read of the state is of no one moment.
    const [late] = await Promise.all([
      startReaders(agents.slice(0, 2), ways.slice(0, 1)),
      play(agents, moves.slice(half), threads),
    ]);
    await end(agents);

    for (const agent of agents) {
      const fresh = await readState(service.api, agent.token);
      const own = (reader: Reader) => reader.agent === agent;
      const [first = [], ...others] = await Promise.all(early.filter(own).map(({ ids }) => ids));
      for (const ids of others) expect(ids).toEqual(first);
      expect(new Set(first).size).toBe(first.length);
      for (const { state } of early.filter(own)) {
        expect(shown(state)).toEqual(shown(fresh));
        expect(readMarks(state, state)).toEqual(readMarks(fresh, state));
      }
      for (const { state, ids } of late.filter(own)) {
        await ids;
        expect(shown(state)).toEqual(shown(fresh));
      }
      counts.events += first.length;
      counts.threads += fresh.threads.size;
      counts.contacts += fresh.contacts.size;
    }
    counts.moves += moves.length;
    counts.runs += 1;
  });
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: 60_000 });
  console.log(`folding: FUZZ_SEED=${seed} FOLD_RUNS=${runs}`, counts);
  expect(counts.events).toBeGreaterThan(counts.moves);
  expect(Math.min(counts.threads, counts.contacts)).toBeGreaterThan(0);
});

/** Of an agent's own messages in each thread: the last one that each other member has got. */
async function deliveredOwn({ token, id }: TestAgent, { receipts, threads }: State) {
  const found: Record<string, Record<string, number>> = {};
  for (const thread of threads.keys()) {
    const { body } = await rest('GET', `${service.api}/threads/${thread}/messages?limit=100`, { token });
    const own = (body.messages as { sender: { id: string }; sequence: number }[])
      .filter(({ sender }) => sender.id === id)
      .map(({ sequence }) => sequence);
    const others = [...(receipts.get(thread) ?? [])].filter(([agent]) => agent !== id);
    found[thread] = Object.fromEntries(
      others.map(([agent, { delivered }]) => [agent, Math.max(0, ...own.filter((one) => one <= delivered))]),
    );
  }
  return found;
}

test('receipts fold into what the receipts of each thread say', { timeout: 300_000 }, async () => {
  const agents = await residents();
  const [ways = []] = fc.sample(anyWays, { numRuns: 1, seed });
  const [moves = []] = fc.sample(anyMoves(agentsAtOnce, mostMoves), { numRuns: 1, seed });
  const readers = await startReaders(agents, ways);
  const threads: string[] = [];
  await play(agents, beginning, threads);
  await play(agents, moves, threads);
  const delivered: number[] = [];
  for (const { agent, state } of readers) {
    // What is delivered is written and told about a second later.
    await vi.waitFor(
      async () => {
        const fresh = await readState(service.api, agent.token);
        expect(await deliveredOwn(agent, state)).toEqual(await deliveredOwn(agent, fresh));
        delivered.push(
          ...Object.values(await deliveredOwn(agent, fresh)).flatMap((marks) => Object.values(marks)),
        );
      },
      { timeout: 20_000, interval: 200 },
    );
  }
  expect(Math.max(...delivered)).toBeGreaterThan(0);
  await end(agents);
  await Promise.all(readers.map(({ ids }) => ids));
});
