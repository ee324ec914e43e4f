import type { z } from 'zod';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { isId } from '../../../../packages/core/src/domain/ids.ts';
import { isOpenTask, isWaitingForClient } from '../../../../packages/core/src/domain/tasks.ts';
import { isBlank } from '../../../../packages/core/src/domain/visible-text.ts';
import { sentMessage } from '../../../operations/messages/send-message.ts';
import { getTaskOperation as operation } from '../../../operations/tasks/get-task.ts';
import { quoteText } from '../approvals/question-text.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import { readField } from '../protocol/required-scopes.ts';
import { callTool } from '../tools/call-tool.ts';
import { addTimeTexts } from '../tools/time-texts.ts';
import type { Tool } from '../tools/tools.ts';
import type { Task, TaskCall, TaskSource } from './task-source.ts';

type Question = z.infer<typeof operation.output>;
type Message = Question['messages'][number];

const hiddenBy = new Set(['TASK_NOT_FOUND', 'INSUFFICIENT_SCOPE']);
const maxQuoteLength = 1_000;

/**
 * Questions of an agent to another one as tasks. The id is that of the task of the service, and everything is read from it, so a client can
 * follow a question after restarts of both, and also one that was asked over another transport.
 */
export function createQuestionTasks(parts: McpParts, tools: ReadonlyMap<string, Tool>): TaskSource {
  function requireTool(name: string): Tool {
    const tool = tools.get(name);
    if (!tool) throw new Error(`there is no tool ${name}`);
    return tool;
  }

  /** Undefined also for a task that the agent was given. */
  async function find({ caller: { actor } }: TaskCall, id: string): Promise<Question | undefined> {
    if (!isId('task', id)) return undefined;
    try {
      const call = { operation, actor, input: { task_id: id }, already_consumed: true };
      const { output } = await parts.execute(call);
      const task = operation.output.parse(output);
      return task.client.id === actor.agent_id ? task : undefined;
    } catch (error) {
      if (error instanceof DomainError && hiddenBy.has(error.code)) return undefined;
      throw error;
    }
  }

  /** Calls a tool for the client. @throws {RpcError} with the error of the tool */
  async function run({ caller, signal }: TaskCall, name: string, args: object, already_consumed = false) {
    const call = { tool: requireTool(name), args: { ...args }, exchange: { signal }, already_consumed };
    const result = await callTool(parts, caller, call);
    if (result.isError !== true) return result.structuredContent ?? {};
    const [block] = result.content;
    throw new RpcError(rpcCodes.internalError, block?.type === 'text' ? block.text : `${name} failed`);
  }

  /** The result of `ask`, with the answer. */
  async function readResult(call: TaskCall, task: Question): Promise<object> {
    const asking = task.messages.find(({ id }) => id === task.message_id) ?? task.messages[0];
    if (!asking) throw new Error('a task has the message that asks');
    const answer = answersOf(task).findLast(({ artifact }) => artifact) ?? answersOf(task).at(-1);
    const after_sequence = answer ? answer.sequence - 1 : asking.sequence;
    const args = { task_id: task.id, after_sequence, wait_seconds: 0 };
    const { thread_id: _thread, ...waited } = await run(call, 'wait_for_reply', args, true);
    const message = addTimeTexts(sentMessage.parse(asking));
    const structuredContent = { message, ...waited, after_sequence: asking.sequence };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  }

  return {
    async read(call, id) {
      const task = await find(call, id);
      if (!task) return undefined;
      const { created_at, updated_at, expires_at } = task;
      return {
        created_at,
        updated_at,
        expires_at,
        ...(await describe(call, task, () => readResult(call, task))),
      };
    },
    async update(call, id, responses) {
      const task = await find(call, id);
      const question = task && waitingQuestion(task);
      if (!question) return;
      const response = Object.hasOwn(responses, question.id) ? responses[question.id] : undefined;
      const answer = readField(readField(response, 'content'), 'answer');
      if (readField(response, 'action') !== 'accept' || typeof answer !== 'string' || isBlank(answer)) return;
      await run(call, 'send_message', {
        thread_id: task.thread_id,
        content: answer,
        reply_to: question.id,
        // A repeated response is sent once.
        idempotency_key: `mcp-input-${question.id}`,
      });
    },
    async cancel(call, id) {
      const task = await find(call, id);
      if (task && isOpenTask(task.state)) await run(call, 'cancel_task', { task_id: id }, true);
    },
  };
}

type TaskTimes = 'created_at' | 'updated_at' | 'expires_at';

/** The messages of the asked agent, oldest first. */
function answersOf({ messages, agent }: Question): Message[] {
  return messages.filter(({ sender }) => sender.id === agent.id);
}

/** What the asked agent asks back, while it waits for the answer. */
function waitingQuestion(task: Question): Message | undefined {
  return isWaitingForClient(task.state) ? answersOf(task).at(-1) : undefined;
}

const answerForm = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer', description: 'Do not enter secrets.' } },
  required: ['answer'],
};

/** @param readResult reads the result of a completed task. */
async function describe(
  call: TaskCall,
  task: Question,
  readResult: () => Promise<object>,
): Promise<Omit<Task, TaskTimes>> {
  const agent = `@${task.agent.canonical_handle}`;
  if (task.state === 'submitted') return { status: 'working', message: `${agent} has not begun.` };
  if (task.state === 'working') return { status: 'working', message: `${agent} is working on it.` };
  if (isWaitingForClient(task.state)) return describeWaiting(call, task);
  if (task.state === 'completed') return { status: 'completed', result: await readResult() };
  if (task.state === 'canceled') return { status: 'cancelled', message: 'The question was canceled.' };
  const reason = answersOf(task).at(-1);
  const why = reason ? `: ${quoteText(reason.content, maxQuoteLength)}` : '.';
  const message = `${agent} did not answer: ${task.state}${why}`;
  return { status: 'failed', message, error: { code: rpcCodes.internalError, message } };
}

/** A client with forms asks its person; for others the model answers with a message. */
function describeWaiting(
  { caller }: TaskCall,
  task: Question,
): Pick<Task, 'status' | 'message' | 'questions'> {
  const question = waitingQuestion(task);
  const asks = task.state === 'auth_required' ? 'needs authorization' : 'asks';
  const text = quoteText(question?.content ?? '', maxQuoteLength);
  const message = `@${task.agent.canonical_handle} ${asks}: "${text}"`;
  if (!question) return { status: 'working', message };
  if (!caller.client?.elicitation.includes('form')) {
    const hint = `Answer with send_message and reply_to ${question.id} in ${task.thread_id}.`;
    return { status: 'working', message: `${message} ${hint}` };
  }
  const params = { message, requestedSchema: answerForm };
  return {
    status: 'input_required',
    message,
    questions: { [question.id]: { method: 'elicitation/create', params } },
  };
}
