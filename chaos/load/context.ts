import type { LoadHistory } from '../history.ts';
import type { Random } from '../random.ts';
import type { WebhookReceiver } from '../../scripts/parts/webhook-receiver.ts';
import { type Callers, createCallers } from './callers.ts';
import type { Agent, Population } from './population.ts';
import type { Retry } from './retry.ts';
import { createThreadState, type ThreadState } from './thread-state.ts';

export interface LoadParts {
  base: string;
  population: Population;
  random: Random;
  /** Actions add their attempts to it. */
  history: LoadHistory;
  retry: Retry;
  /** Gets the requests of webhooks. Null: no webhooks are created. */
  receiver: WebhookReceiver | null;
}

/** What the actions of a load share. */
export interface LoadContext extends LoadParts {
  agents: readonly Agent[];
  threads: ThreadState[];
  findAgent(id: string): Agent;
  /** The connections of an agent. */
  callersOf(agent: Agent): Callers;
  pickMember(thread: ThreadState): Agent;
  /** Runs an action of a random member of a random thread. */
  act<T>(run: (thread: ThreadState, agent: Agent) => Promise<T>): Promise<T>;
}

export function createLoadContext(parts: LoadParts): LoadContext {
  const { base, population, random } = parts;
  const { agents } = population;
  const agentsById = new Map(agents.map((agent) => [agent.id, agent]));
  const callers = new Map(agents.map((agent) => [agent.id, createCallers(base, agent)]));
  const threads = population.threads.map((thread) => createThreadState(random, thread));

  function findAgent(id: string): Agent {
    const agent = agentsById.get(id);
    if (!agent) throw new Error(`${id} is not an agent of this run`);
    return agent;
  }

  function callersOf({ id }: Agent): Callers {
    const own = callers.get(id);
    if (!own) throw new Error(`${id} is not an agent of this run`);
    return own;
  }

  const pickMember = (thread: ThreadState): Agent => findAgent(random.pick(thread.members()));
  return {
    ...parts,
    agents,
    threads,
    findAgent,
    callersOf,
    pickMember,
    act(run) {
      const thread = random.pick(threads);
      const agent = pickMember(thread);
      return thread.act(agent.id, () => run(thread, agent));
    },
  };
}
