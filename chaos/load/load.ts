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

/** Number of concurrent actions. */
const concurrency = 8;
/** Maximum wait between two actions of a lane, and wait before a retry, in milliseconds. */
const waitIntervals = { next: 150, again: 50 };
/** Share of acknowledged actions that are repeated, as by a client that lost the response. */
const repeatChance = 0.1;

interface ThreadState {
  thread_id: string;
  members: readonly string[];
  /** The last sequence that was acknowledged. */
  last: number;
}

/** Runs actions of all agents until `finish`. Each action is retried with one key until it is acknowledged. */
export function startLoad(base: string, { agents, threads }: Population, seed: number): Load {
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const places: ThreadState[] = threads.map((thread) => ({ ...thread, last: 0 }));
  const random = seededRandom(seed);
  const strangers = random.sample(
    agents.flatMap((one, index) => agents.slice(index + 1).map((other) => [one, other] as const)),
    agents.length ** 2,
  );
  const load: Omit<Load, 'finish'> = {
    sends: [],
    contactRequests: [],
    marks: [],
    complaints: [],
    uncertainOutcomes: new Map(),
  };
  const over = new AbortController();
  const abandoned = new AbortController();

  /** Retries until the outcome is known. Returns whether it was acknowledged. */
  async function retry<Answer>(
    attempt: Attempt<Answer>,
    once: () => Promise<ActionResult<Answer>>,
  ): Promise<boolean> {
    while (!abandoned.signal.aborted) {
      attempt.attempts += 1;
      const outcome = await once();
      if ('answer' in outcome) {
        attempt.acknowledged_at ??= Date.now();
        attempt.answers.push(outcome.answer);
        return true;
      }
      if ('refused' in outcome) {
        load.complaints.push(`${attempt.agent_id}, key ${attempt.key}: ${outcome.refused}`);
        return false;
      }
      load.uncertainOutcomes.set(outcome.doubt, (load.uncertainOutcomes.get(outcome.doubt) ?? 0) + 1);
      await pause(waitIntervals.again);
    }
    return false;
  }

  async function perform<Answer>(attempt: Attempt<Answer>, once: () => Promise<ActionResult<Answer>>) {
    const done = await retry(attempt, once);
    if (done && random.chance(repeatChance)) await retry(attempt, once);
  }

  function begin<Answer>(by: Agent): Attempt<Answer> {
    return {
      key: randomUUID(),
      agent_id: by.id,
      begun_at: Date.now(),
      acknowledged_at: null,
      attempts: 0,
      answers: [],
    };
  }

  function agentOf(id: string): Agent {
    const agent = byId.get(id);
    if (!agent) throw new Error(`${id} is no agent of this run`);
    return agent;
  }

  async function send(kind: 'REST' | 'tool'): Promise<void> {
    const place = random.pick(places);
    const sender = agentOf(random.pick(place.members));
    const content = `${searchWord} ${load.sends.length + 1} by ${kind}`;
    const attempt: Send = { ...begin(sender), kind, content, others: [] };
    load.sends.push(attempt);
    await perform(attempt, () => attemptSend(base, sender, attempt, place));
    place.last = Math.max(place.last, attempt.answers[0]?.sequence ?? 0);
  }

  async function openThread(): Promise<void> {
    const [sender, ...others] = random.sample(agents, 2 + random.below(maxThreadSize - 1));
    if (!sender) return;
    const content = `${searchWord} ${load.sends.length + 1} opens a thread`;
    const attempt: Send = { ...begin(sender), kind: 'opening', content, others: others.map(({ id }) => id) };
    load.sends.push(attempt);
    const participants = others.map(({ handle }) => handle);
    await perform(attempt, () => attemptSend(base, sender, attempt, { participants }));
    const [opened] = attempt.answers;
    if (opened)
      places.push({ thread_id: opened.thread_id, members: [sender.id, ...attempt.others], last: 1 });
  }

  async function requestContact(): Promise<void> {
    const pair = strangers.pop();
    if (!pair) return;
    const [sender, recipient] = pair;
    const attempt: ContactRequestAttempt = { ...begin(sender), to: recipient.id };
    load.contactRequests.push(attempt);
    await perform(attempt, () => attemptContactRequest(base, sender, attempt, recipient.handle));
  }

  async function markRead(): Promise<void> {
    const { thread_id, members, last } = random.pick(places);
    const agent = agentOf(random.pick(members));
    const attempt: Attempt<unknown> = begin(agent);
    if (await retry(attempt, () => attemptReadMark(base, agent, thread_id, last))) {
      load.marks.push({ by: agent.id, thread_id, up_to_sequence: last });
    }
  }

  const running = Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (!over.signal.aborted) {
        await pickAction(random, { send, openThread, requestContact, markRead });
        await pause(random.below(waitIntervals.next));
      }
    }),
  );
  return {
    ...load,
    async finish(giveUp) {
      over.abort();
      if (giveUp.aborted) abandoned.abort();
      giveUp.addEventListener('abort', () => abandoned.abort(), { once: true });
      await running;
    },
  };
}

interface Actions {
  send(way: 'REST' | 'tool'): Promise<void>;
  openThread(): Promise<void>;
  requestContact(): Promise<void>;
  markRead(): Promise<void>;
}

function pickAction(random: Random, { send, openThread, requestContact, markRead }: Actions): Promise<void> {
  const of100 = random.below(100);
  if (of100 < 45) return send('REST');
  if (of100 < 80) return send('tool');
  if (of100 < 85) return openThread();
  return of100 < 90 ? requestContact() : markRead();
}
