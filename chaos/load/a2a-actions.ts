import { z } from 'zod';
import type { A2aTask, Draft, Send, SentMessage, TaskAnswer } from '../history.ts';
import { type A2aClient, a2aTask, createA2aClient } from '../transports/a2a.ts';
import { type ActionResult, readAnswer, searchWord, sentMessage } from './actions.ts';
import type { Caller } from './call.ts';
import type { LoadContext } from './context.ts';
import type { Agent } from './population.ts';
import { newAttempt } from './retry.ts';
import type { Opening, TaskRecord } from './task-actions.ts';
import type { TaskStreams } from './task-streams.ts';
import { createThreadState, type ThreadState } from './thread-state.ts';

/** A client, the agent that it asks, and the context of their tasks. */
interface Pair {
  client: Agent;
  agent: Agent;
  thread: ThreadState | null;
}

/** Later questions are asked in the contexts of earlier ones. */
const maxContexts = 8;
/** With more tasks, the client cancels the oldest one. */
const maxTasks = 10;

const sentTask = z.object({ task: a2aTask });
const readTask = z.looseObject({ messages: z.tuple([sentMessage], sentMessage) });

/** Questions of agents that use A2A, and what its streams tell of them. Each action resolves when it is acknowledged or abandoned. */
export function createA2aActions(
  { base, agents, threads, random, history, retry, callersOf }: LoadContext,
  { addCall, addOpening }: TaskRecord,
  streams: Pick<TaskStreams, 'follow'>,
) {
  const contexts: Pair[] = [];
  const followed: { client: Agent; a2a: A2aClient; id: string }[] = [];

  function pickPair(): Pair {
    if (contexts.length >= maxContexts) return random.pick(contexts);
    const [client, agent] = random.sample(agents, 2);
    if (!client || !agent) throw new Error('an agent has no other to ask');
    return { client, agent, thread: null };
  }

  /** The thread of a context that a question opened. The load writes in it, too. */
  function addContext({ client, agent }: Pair, { thread_id }: SentMessage): ThreadState {
    const members = [client.id, agent.id];
    const thread = createThreadState(random, { thread_id, members }, { isPair: true });
    threads.push(thread);
    contexts.push({ client, agent, thread });
    return thread;
  }

  async function ask(): Promise<void> {
    const pair = pickPair();
    const { client, agent, thread } = pair;
    const a2a = createA2aClient(base, client, agent);
    const draft = createDraft(history.sends.length + 1);
    const send: Send = thread
      ? { ...newAttempt(client), kind: 'A2A', draft, others: [] }
      : { ...newAttempt(client), kind: 'opening', draft, others: [agent.id] };
    history.sends.push(send);
    const call = addCall(client, 'open');
    const both = { ...newAttempt<Opening>(client), key: send.key };
    await retry.withKey(both, () => sendQuestion(a2a, callersOf(client).REST, pair, send));
    const opening = addOpening({ both, send, call, client, agent });
    if (!opening) return;
    const { task_id, message } = opening;
    send.draft = { ...draft, metadata: { a2a: { task_id, message_id: send.key } } };
    (thread ?? addContext(pair, message)).addMessage(message);
    const task: A2aTask = { task_id, streams: 0, seen: [], read: null };
    history.a2a_tasks.push(task);
    streams.follow(a2a, task);
    followed.push({ client, a2a, id: task_id });
  }

  return {
    async askOverA2a() {
      const oldest = followed.length >= maxTasks ? followed.shift() : undefined;
      if (!oldest) return ask();
      const { client, a2a, id } = oldest;
      await retry.once(addCall(client, 'cancel'), () => cancelTask(a2a, id));
    },
  };
}

const createDraft = (number: number): Draft => ({
  content: `${searchWord} ${number} asks over A2A`,
  content_type: 'text',
  reply_to: null,
  metadata: {},
  attachment_ids: [],
});

/** Sends a message, and reads over REST how it is stored: A2A does not tell that. */
async function sendQuestion(
  a2a: A2aClient,
  rest: Caller,
  { thread }: Pair,
  { key, draft }: Send,
): Promise<ActionResult<Opening>> {
  const message = {
    messageId: key,
    role: 'ROLE_USER',
    parts: [{ text: draft.content }],
    ...(thread && { contextId: thread.thread_id }),
  };
  const configuration = { returnImmediately: true };
  const sent = readAnswer(await a2a.call('SendMessage', { message, configuration }), sentTask);
  if (!('answer' in sent)) return sent;
  const { task_id } = sent.answer.task;
  const read = readAnswer(await rest('get_task', { task_id }), readTask);
  if (!('answer' in read)) return read;
  const [first] = read.answer.messages;
  return { answer: { task_id, message: first } };
}

async function cancelTask(a2a: A2aClient, id: string): Promise<ActionResult<TaskAnswer>> {
  const outcome = await a2a.call('CancelTask', { id });
  if ('refused' in outcome && outcome.code === 'TASK_NOT_CANCELABLE') return { answer: { ended: true } };
  const canceled = readAnswer(outcome, a2aTask);
  if (!('answer' in canceled)) return canceled;
  const { task_id, state, generation } = canceled.answer;
  return { answer: { ended: false, task_id, state, generation } };
}
