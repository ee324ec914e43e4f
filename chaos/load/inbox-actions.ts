import { z } from 'zod';
import type { Redrive } from '../history.ts';
import { readAnswer } from './actions.ts';
import type { LoadContext } from './context.ts';
import type { Agent } from './population.ts';
import { newAttempt, type Retry } from './retry.ts';

const counts = z.looseObject({ ready: z.int(), leased: z.int() });
const deadItems = z.looseObject({ items: z.array(z.looseObject({ id: z.string() })) });

/** Turns on the inbox of every third agent; every other inbox is in the order of threads. */
export async function turnOnInboxes({ agents, history, callersOf }: LoadContext): Promise<void> {
  for (const [index, agent] of agents.filter((_agent, place) => place % 3 === 1).entries()) {
    const settings = { ordered_by_thread: index % 2 === 0, max_attempts: 4 };
    const outcome = await callersOf(agent).REST('set_inbox', settings);
    if (!('answer' in outcome)) throw new Error(`the inbox of ${agent.id}: ${JSON.stringify(outcome)}`);
    history.inboxes.push({ agent_id: agent.id, ...settings });
  }
}

/** Whether no item of an inbox is ready or leased; false if the service does not answer. */
export async function isEmpty({ callersOf }: LoadContext, agent: Agent): Promise<boolean> {
  const read = readAnswer(await callersOf(agent).REST('get_inbox', {}), counts);
  return 'answer' in read && read.answer.ready + read.answer.leased === 0;
}

/** Makes one of the dead items of an instance's agent ready again, if there are any. */
export async function redriveItem(
  { random, history, findAgent, callersOf }: LoadContext,
  { agent_id, retry, signal }: { agent_id: string; retry: Retry; signal: AbortSignal },
): Promise<void> {
  const agent = findAgent(agent_id);
  const caller = random.pick([callersOf(agent).REST, callersOf(agent).call]);
  const outcome = await caller('list_dead_items', { limit: 10 }, { signal });
  const read = readAnswer(outcome, deadItems);
  if (!('answer' in read) || read.answer.items.length === 0) return;
  const { id: event_id } = random.pick(read.answer.items);
  const attempt: Redrive = { ...newAttempt(agent), event_id };
  history.redrives.push(attempt);
  await retry.once(attempt, async () => {
    const redriven = await caller('redrive_dead_item', { item_id: event_id }, { signal });
    // Another instance, or an attempt whose answer was lost, has redriven it.
    const isGone = 'refused' in redriven && redriven.code === 'NOT_FOUND';
    return 'answer' in redriven || isGone ? { answer: null } : redriven;
  });
}
