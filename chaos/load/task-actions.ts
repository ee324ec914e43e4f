import { z } from 'zod';
import { reportedTaskStates, taskStates } from '../../packages/core/src/domain/tasks.ts';
import type {
  Attempt,
  CallerName,
  LoadHistory,
  Send,
  SentMessage,
  TaskAnswer,
  TaskCall,
} from '../history.ts';
import { type ActionResult, readAnswer, searchWord, sentMessage } from './actions.ts';
import type { Outcome } from './call.ts';
import type { LoadContext } from './context.ts';
import { createSends } from './message-actions.ts';
import type { Agent } from './population.ts';
import { newAttempt } from './retry.ts';
import type { ThreadState } from './thread-state.ts';

/** A task that the load opened. */
interface OpenedTask {
  task_id: string;
  message_id: string;
  client: Agent;
  agent: Agent;
}

const kinds: readonly CallerName[] = ['REST', 'tool', 'call'];
/** The load changes one of the newest tasks: most older ones have ended. */
const keptTasks = 10;
const messageChance = 0.5;

/** Codes of a call whose task has ended. An agent that left its thread, which ended the task, finds no thread to answer in. */
const endedCodes: ReadonlySet<string | undefined> = new Set(['INVALID_TRANSITION', 'THREAD_NOT_FOUND']);

const changedTask = z
  .looseObject({ id: z.string(), state: z.enum(taskStates), generation: z.int() })
  .transform(({ id: task_id, state, generation }): TaskAnswer => ({
    ended: false,
    task_id,
    state,
    generation,
  }));

const createdTask = z.looseObject({ id: z.string(), messages: z.tuple([sentMessage]) });
const askedTask = z.looseObject({ message: sentMessage, task: z.looseObject({ id: z.string() }) });

export interface Opening {
  message: SentMessage;
  task_id: string;
}

/** The attempts to open a task: of the message and of the call, which have one key. */
interface OpeningAttempt extends Pick<OpenedTask, 'client' | 'agent'> {
  both: Attempt<Opening>;
  send: Send;
  call: TaskCall;
}

const openingByCall = createdTask.transform(({ id: task_id, messages: [message] }): Opening => ({
  message,
  task_id,
}));
const openingByTool = askedTask.transform(({ message, task }): Opening => ({ message, task_id: task.id }));

/** Returns the record of the calls about tasks, and of the newest tasks that were opened. */
export function createTaskRecord({ task_calls }: Pick<LoadHistory, 'task_calls'>) {
  const opened: OpenedTask[] = [];

  function addCall(by: Agent, kind: TaskCall['kind'], draft: TaskCall['draft'] = null): TaskCall {
    const call: TaskCall = { ...newAttempt<TaskAnswer>(by), kind, draft };
    task_calls.push(call);
    return call;
  }

  /** Takes over what the attempts to open a task were answered: as answers of the message, and of the call. Returns the first one. */
  function addOpening({ both, send, call, client, agent }: OpeningAttempt): Opening | undefined {
    const { acknowledged_at, attempts, answers } = both;
    Object.assign(send, { acknowledged_at, attempts, answers: answers.map(({ message }) => message) });
    const first = { ended: false, state: 'submitted', generation: 1 };
    const tasks = answers.map(({ task_id }) => ({ ...first, task_id }));
    Object.assign(call, { acknowledged_at, attempts, answers: tasks });
    const [answer] = answers;
    if (!answer) return undefined;
    opened.push({ task_id: answer.task_id, message_id: answer.message.message_id, client, agent });
    if (opened.length > keptTasks) opened.shift();
    return answer;
  }

  return { opened, addCall, addOpening };
}

export type TaskRecord = ReturnType<typeof createTaskRecord>;

/** Questions, their states as the asked agents report them, and their ends. Each action resolves when it is acknowledged or abandoned. */
export function createTaskActions(context: LoadContext, { opened, addCall, addOpening }: TaskRecord) {
  const { random, history, retry, findAgent, callersOf, act } = context;
  const { begin } = createSends(context);

  /** Asks a member of a thread, which stays a member until the question is sent. */
  async function open(thread: ThreadState, client: Agent, agent: Agent): Promise<void> {
    const { thread_id } = thread;
    const kind = random.pick(kinds);
    const send = begin(thread, client, kind, { what: `asks by ${kind}` });
    const call = addCall(client, 'open');
    const { key, ...attempt } = newAttempt<Opening>(client);
    const both = { ...attempt, key };
    const caller = callersOf(client)[kind];
    await retry.withKey(both, async () =>
      // Models ask with another operation.
      kind === 'tool'
        ? readAnswer(
            await caller('ask', { thread_id, of: agent.handle, ...send.draft, wait_seconds: 0 }, { key }),
            openingByTool,
          )
        : readAnswer(
            await caller('create_task', { thread_id, with_handle: agent.handle, ...send.draft }, { key }),
            openingByCall,
          ),
    );
    const opening = addOpening({ both, send, call, client, agent });
    if (opening) thread.addMessage(opening.message);
  }

  return {
    openTask: () =>
      act(async (thread, client) => {
        const others = thread.members().filter((id) => id !== client.id);
        if (others.length === 0) return;
        const agent = findAgent(random.pick(others));
        await thread.act(agent.id, () => open(thread, client, agent));
      }),
    async updateTask() {
      if (opened.length === 0) return;
      const { task_id, message_id, agent } = random.pick(opened);
      const state = random.pick(reportedTaskStates);
      const hasMessage = state.endsWith('_required') || random.chance(messageChance);
      const content = `${searchWord} ${history.task_calls.length} reports ${state}`;
      const fields = { content, content_type: 'text', metadata: {}, attachment_ids: [] } as const;
      const call = addCall(agent, 'update', hasMessage ? { ...fields, reply_to: message_id } : null);
      const caller = callersOf(agent)[random.pick(kinds)];
      const { key } = call;
      const input = { task_id, state, ...(hasMessage && { message: content }) };
      await retry.withKey(call, async () => readChange(await caller('update_task', input, { key })));
    },
    async cancelTask() {
      if (opened.length === 0) return;
      const { task_id, client } = random.pick(opened);
      const caller = callersOf(client)[random.pick(kinds)];
      await retry.once(addCall(client, 'cancel'), async () =>
        readChange(await caller('cancel_task', { task_id })),
      );
    },
  };
}

function readChange(outcome: Outcome): ActionResult<TaskAnswer> {
  if ('refused' in outcome && endedCodes.has(outcome.code)) return { answer: { ended: true } };
  return readAnswer(outcome, changedTask);
}
