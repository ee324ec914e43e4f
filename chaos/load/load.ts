import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  searchWord,
  attemptContactRequest,
  attemptReadMark,
  attemptSend,
  type ActionResult,
} from './actions.ts';
import type { Attempt, ContactRequestAttempt, ReadMark, Send } from '../history.ts';
import { type Agent, maxThreadSize, type Population } from './population.ts';
import { type Random, seededRandom } from '../random.ts';

export interface Load {
  sends: Send[];
  contactRequests: ContactRequestAttempt[];
  marks: ReadMark[];
  /** Descriptions of the refusals. */
  complaints: string[];
  /** Attempts with an unknown outcome, by reason. */
  uncertainOutcomes: Map<string, number>;
  /** Starts no new actions; resolves when all started ones are acknowledged, or `giveUp` aborts. */
  finish(giveUp: AbortSignal): Promise<void>;
}

type Results = Omit<Load, 'finish'>;

/** Number of concurrent actions. */
const concurrency = 8;
const maxPauseBetweenActionsMs = 150;
const retryDelayMs = 50;
/** Share of acknowledged actions that are repeated, as by a client that lost the response. */
const repeatChance = 0.1;

interface ThreadState {
  thread_id: string;
  members: readonly string[];
  /** The last sequence that was acknowledged. */
  last: number;
}

/** Runs actions of all agents until `finish`. Each action is retried with one key until it is acknowledged. */
export function startLoad(base: string, population: Population, seed: number): Load {
  const random = seededRandom(seed);
  const results: Results = {
    sends: [],
    contactRequests: [],
    marks: [],
    complaints: [],
    uncertainOutcomes: new Map(),
  };
  const stopped = new AbortController();
  const abandoned = new AbortController();
  const retry = createRetry(results, abandoned.signal);
  const actions = createActions({ base, population, random, results, retry });

  const running = Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (!stopped.signal.aborted) {
        await runRandomAction(random, actions);
        await pause(random.below(maxPauseBetweenActionsMs));
      }
    }),
  );
  return {
    ...results,
    async finish(giveUp) {
      stopped.abort();
      if (giveUp.aborted) abandoned.abort();
      giveUp.addEventListener('abort', () => abandoned.abort(), { once: true });
      await running;
    },
  };
}

/** Retries until the outcome is known. Returns whether it was acknowledged. */
type Retry = <Answer>(
  attempt: Attempt<Answer>,
  once: () => Promise<ActionResult<Answer>>,
) => Promise<boolean>;

function createRetry({ complaints, uncertainOutcomes }: Results, abandoned: AbortSignal): Retry {
  return async (attempt, once) => {
    while (!abandoned.aborted) {
      attempt.attempts += 1;
      const outcome = await once();
      if ('answer' in outcome) {
        attempt.acknowledged_at ??= Date.now();
        attempt.answers.push(outcome.answer);
        return true;
      }
      if ('refused' in outcome) {
        complaints.push(`${attempt.agent_id}, key ${attempt.key}: ${outcome.refused}`);
        return false;
      }
      uncertainOutcomes.set(outcome.doubt, (uncertainOutcomes.get(outcome.doubt) ?? 0) + 1);
      await pause(retryDelayMs);
    }
    return false;
  };
}

interface ActionContext {
  base: string;
  population: Population;
  random: Random;
  results: Results;
  retry: Retry;
}

interface Actions {
  send(kind: 'REST' | 'tool'): Promise<void>;
  openThread(): Promise<void>;
  requestContact(): Promise<void>;
  markRead(): Promise<void>;
}

function createActions({ base, population, random, results, retry }: ActionContext): Actions {
  const { agents } = population;
  const agentsById = new Map(agents.map((agent) => [agent.id, agent]));
  const threads: ThreadState[] = population.threads.map((thread) => ({ ...thread, last: 0 }));
  const strangers = random.sample(
    agents.flatMap((one, index) => agents.slice(index + 1).map((other) => [one, other] as const)),
    agents.length ** 2,
  );

  function pickMember(members: readonly string[]): Agent {
    const id = random.pick(members);
    const agent = agentsById.get(id);
    if (!agent) throw new Error(`${id} is not an agent of this run`);
    return agent;
  }

  async function perform<Answer>(attempt: Attempt<Answer>, once: () => Promise<ActionResult<Answer>>) {
    const isAcknowledged = await retry(attempt, once);
    if (isAcknowledged && random.chance(repeatChance)) await retry(attempt, once);
  }

  return {
    async send(kind) {
      const thread = random.pick(threads);
      const sender = pickMember(thread.members);
      const content = `${searchWord} ${results.sends.length + 1} by ${kind}`;
      const attempt: Send = { ...newAttempt(sender), kind, content, others: [] };
      results.sends.push(attempt);
      await perform(attempt, () => attemptSend(base, sender, attempt, thread));
      thread.last = Math.max(thread.last, attempt.answers[0]?.sequence ?? 0);
    },
    async openThread() {
      const [sender, ...others] = random.sample(agents, 2 + random.below(maxThreadSize - 1));
      if (!sender) return;
      const content = `${searchWord} ${results.sends.length + 1} opens a thread`;
      const otherIds = others.map(({ id }) => id);
      const attempt: Send = { ...newAttempt(sender), kind: 'opening', content, others: otherIds };
      results.sends.push(attempt);
      const participants = others.map(({ handle }) => handle);
      await perform(attempt, () => attemptSend(base, sender, attempt, { participants }));
      const [opened] = attempt.answers;
      if (opened) threads.push({ thread_id: opened.thread_id, members: [sender.id, ...otherIds], last: 1 });
    },
    async requestContact() {
      const pair = strangers.pop();
      if (!pair) return;
      const [sender, recipient] = pair;
      const attempt: ContactRequestAttempt = { ...newAttempt(sender), to: recipient.id };
      results.contactRequests.push(attempt);
      await perform(attempt, () => attemptContactRequest(base, sender, attempt, recipient.handle));
    },
    async markRead() {
      const { thread_id, members, last } = random.pick(threads);
      const agent = pickMember(members);
      const attempt: Attempt<unknown> = newAttempt(agent);
      if (await retry(attempt, () => attemptReadMark(base, agent, thread_id, last))) {
        results.marks.push({ by: agent.id, thread_id, up_to_sequence: last });
      }
    },
  };
}

function newAttempt<Answer>({ id }: Agent): Attempt<Answer> {
  return {
    key: randomUUID(),
    agent_id: id,
    begun_at: Date.now(),
    acknowledged_at: null,
    attempts: 0,
    answers: [],
  };
}

function runRandomAction(random: Random, actions: Actions): Promise<void> {
  const percent = random.below(100);
  if (percent < 45) return actions.send('REST');
  if (percent < 80) return actions.send('tool');
  if (percent < 85) return actions.openThread();
  return percent < 90 ? actions.requestContact() : actions.markRead();
}
