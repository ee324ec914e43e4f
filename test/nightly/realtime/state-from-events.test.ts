import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import {
  readCurrentCursor,
  type FeedTransport,
  transportOpeners,
  type FeedAccess,
  type PositionedEvent,
} from '../../clients/follower/transports.ts';
import { followAcrossTransports, type TransportStay } from '../../clients/follower/follower.ts';
import { readAgentState, type AgentState } from '../../clients/follower/state.ts';
import { createRelatedAgent } from '../../clients/contacts.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import {
  arbitraryActions,
  initialActions,
  createActionRunner,
  type RandomAction,
} from '../../integration/realtime/random-actions.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const runs = Number(process.env['FOLD_RUNS'] ?? 5);

const agentsAtOnce = 4;
const maxActions = 80;

const service = useSharedService();

interface Resident extends TestAgent {
  place: FeedAccess;
}

/** Four agents. Two have one owner: a request makes them contacts immediately. */
async function createAgents(): Promise<Resident[]> {
  const strangers = await Promise.all([1, 2, 3].map(() => service.agent({ scopes })));
  const [first] = strangers;
  const agents = first ? [...strangers, await createRelatedAgent(service, first, { scopes })] : [];
  const settle = async (agent: TestAgent): Promise<Resident> => {
    const mcp = await service.token(agent.handle, { audience: 'mcp', scopes });
    const inbox = await service.put(agent, '/inbox', {});
    expect(inbox.status).toBe(200);
    return { ...agent, place: { url: service.url, tokens: { api: agent.token, mcp } } };
  };
  return Promise.all(agents.map(settle));
}

const transportNames = Object.keys(transportOpeners) as FeedTransport[];

/** Paths through the transports: one path that ends in each transport, after any number of others. */
const arbitraryStays = fc
  .array(
    fc.array(
      fc.record({
        transport: fc.constantFrom(...transportNames),
        eventCount: fc.integer({ min: 1, max: 12 }),
      }),
      {
        maxLength: 3,
      },
    ),
    { minLength: transportNames.length, maxLength: transportNames.length },
  )
  .map((paths) =>
    paths.map((stays, index): TransportStay[] => [
      ...stays,
      { transport: transportNames[index] ?? 'longPoll', eventCount: Infinity },
    ]),
  );

interface Reader {
  agent: Resident;
  state: AgentState;
  /** The ids of the received events, once it has received the last one. */
  ids: Promise<string[]>;
}

const endMarker = 'the last event of this feed';

/** Readers of every agent, one for each path, all from the same cursor and state. */
async function startReaders(
  agents: readonly Resident[],
  paths: readonly TransportStay[][],
): Promise<Reader[]> {
  const isLast = ({ type, data }: PositionedEvent) =>
    type === 'agent.updated' && data.description === endMarker;
  const readers = agents.map(async (agent) => {
    const cursor = await readCurrentCursor(agent.place);
    const initialState = await readAgentState(service.api, agent.token);
    return paths.map((stays): Reader => {
      const state = structuredClone(initialState);
      const ids = followAcrossTransports(agent.place, state, cursor, stays, isLast);
      // The later await reports the failure.
      ids.catch(() => undefined);
      return { agent, state, ids };
    });
  });
  return (await Promise.all(readers)).flat();
}

/** Runs the actions of each agent in order, and those of different agents in parallel. */
async function runActions(
  agents: readonly TestAgent[],
  actions: readonly RandomAction[],
  threads: string[],
): Promise<void> {
  const runAction = createActionRunner(service, agents, threads);
  await Promise.all(
    agents.map(async (_, index) => {
      for (const action of actions.filter(({ actor }) => actor === index)) await runAction(action);
    }),
  );
}

async function end(agents: readonly TestAgent[]): Promise<void> {
  const body = { description: endMarker };
  await Promise.all(agents.map(({ token }) => service.patch({ token }, '/agents/me', body)));
}

function shown({ profile, threads, contacts }: AgentState) {
  return { profile, threads: Object.fromEntries(threads), contacts: Object.fromEntries(contacts) };
}

/** The read and handled marks of each member that the reader knows. */
function readMarks(
  { receipts }: AgentState,
  expected: AgentState,
): Record<string, Record<string, (number | undefined)[]>> {
  return Object.fromEntries(
    [...expected.receipts].map(([thread, marks]) => [
      thread,
      Object.fromEntries(
        [...marks.keys()].map((id) => {
          const { read, handled } = receipts.get(thread)?.get(id) ?? {};
          return [id, [read, handled]];
        }),
      ),
    ]),
  );
}

test('state plus events equals the new state, on every transport and across transports', async () => {
  const counts = { runs: 0, actions: 0, events: 0, threads: 0, contacts: 0, handled: 0 };
  const property = fc.asyncProperty(
    arbitraryActions(agentsAtOnce, maxActions),
    arbitraryStays,
    async (actions, paths) => {
      const agents = await createAgents();
      const threads: string[] = [];
      const early = await startReaders(agents, paths);
      const half = Math.ceil(actions.length / 2);
      await runActions(agents, initialActions, threads);
      await runActions(agents, actions.slice(0, half), threads);
      // Some start in the middle: the state that they read is no consistent snapshot.
      const [late] = await Promise.all([
        startReaders(agents.slice(0, 2), paths.slice(0, 1)),
        runActions(agents, actions.slice(half), threads),
      ]);
      await end(agents);

      for (const agent of agents) {
        const fresh = await readAgentState(service.api, agent.token);
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
        counts.handled += [...fresh.receipts.values()].filter(
          (marks) => (marks.get(agent.id)?.handled ?? 0) > 0,
        ).length;
        counts.threads += fresh.threads.size;
        counts.contacts += fresh.contacts.size;
      }
      counts.actions += actions.length;
      counts.runs += 1;
    },
  );
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: 60_000 });
  console.log(`folding: FUZZ_SEED=${seed} FOLD_RUNS=${runs}`, counts);
  expect(counts.events).toBeGreaterThan(counts.actions);
  expect(Math.min(counts.threads, counts.contacts, counts.handled)).toBeGreaterThan(0);
});

/** The last of an agent's own messages that was delivered to each other member, per thread. */
async function deliveredOwn({ token, id }: TestAgent, { receipts, threads }: AgentState) {
  const found: Record<string, Record<string, number>> = {};
  for (const thread of threads.keys()) {
    const { body } = await service.get({ token }, `/threads/${thread}/messages?limit=100`);
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

test('folded receipt events equal the receipts of each thread', async () => {
  const agents = await createAgents();
  const [paths = []] = fc.sample(arbitraryStays, { numRuns: 1, seed });
  const [actions = []] = fc.sample(arbitraryActions(agentsAtOnce, maxActions), { numRuns: 1, seed });
  const readers = await startReaders(agents, paths);
  const threads: string[] = [];
  await runActions(agents, initialActions, threads);
  await runActions(agents, actions, threads);
  const delivered: number[] = [];
  for (const { agent, state } of readers) {
    // Deliveries are written and published about a second later.
    await vi.waitFor(
      async () => {
        const fresh = await readAgentState(service.api, agent.token);
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
