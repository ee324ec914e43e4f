import type { Context } from 'koa';
import type { z } from 'zod';
import { cancelA2aTaskOperation } from '../../operations/a2a/cancel-task.ts';
import { getExtendedAgentCardOperation } from '../../operations/a2a/get-extended-agent-card.ts';
import { a2aCardSchema } from '../../presenters/a2a/card-schema.ts';
import { signCard } from './card.ts';
import { getA2aTaskOperation } from '../../operations/a2a/get-task.ts';
import { listA2aTasksOperation } from '../../operations/a2a/list-tasks.ts';
import { maxHistory } from '../../operations/a2a/show-task.ts';
import type {
  getTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  taskRequest,
} from '../../presenters/a2a/request.ts';
import { fromWireState } from '../../presenters/a2a/states.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { whileListening } from '../http/while-listening.ts';
import type { CallContext } from './context.ts';
import { A2aRefusal } from './errors.ts';
import { expectsReply, sendMessage } from './send.ts';
import { streamTask } from './stream.ts';

type TaskRequest = z.infer<typeof taskRequest>;

/** The fields of an input that do not come from the client. */
const aboutOf = ({ request: { agent, hasMailbox } }: CallContext) => ({
  agent,
  has_mailbox: hasMailbox,
});

/** Sends a message, and waits until its task ends or needs the client, at most `waitMs`. */
export async function send(context: CallContext, params: SendMessageRequest): Promise<object> {
  const { waitMs, waiting, request } = context;
  const waits = !params.configuration.returnImmediately && waitMs > 0 && expectsReply(params.message);
  if (!waits) return (await sendMessage(context, params)).task;
  // A call over the limit of waiting calls stores nothing.
  return waiting.run(request.actor.agent_id, () => sendAndWait(context, params));
}

async function sendAndWait(context: CallContext, params: SendMessageRequest): Promise<object> {
  const { run, waitMs, request, draining } = context;
  const sent = await sendMessage(context, params);
  if (sent.is_settled) return sent.task;
  const about = { ...aboutOf(context), task_id: sent.task.id };
  const input = { ...about, history_length: params.configuration.historyLength, wait_ms: waitMs };
  const waited = await whileListening(request.ctx, draining, (signal) =>
    run(getA2aTaskOperation, input, { signal, already_consumed: true }),
  ).catch((error: unknown) => {
    // The message is stored, so a wait that cannot begin or is interrupted is not an error.
    if (error instanceof DomainError && error.code !== 'UNAUTHORIZED') return sent;
    throw error;
  });
  return waited.task;
}

/** Sends a message, and streams its task. */
export async function sendAndStream(context: CallContext, params: SendMessageRequest): Promise<null> {
  await consumeStream(context);
  const sent = await sendMessage(context, params);
  const needsInput = sent.task.status.state === 'TASK_STATE_INPUT_REQUIRED';
  return streamTask(context, { ...sent, task_id: sent.task.id, isOver: !sent.is_open || needsInput });
}

export async function get(
  context: CallContext,
  { id: task_id, historyLength = maxHistory }: z.infer<typeof getTaskRequest>,
): Promise<object> {
  const history_length = Math.min(historyLength, maxHistory);
  const found = await context.run(getA2aTaskOperation, { ...aboutOf(context), task_id, history_length });
  return found.task;
}

/** A page with messages is shorter, because a message can have 32 KiB. */
const maxDetailed = 10;
const maxListedHistory = 20;

export function list(context: CallContext, params: ListTasksRequest): Promise<object> {
  const { contextId, status, statusTimestampAfter, pageSize, pageToken, historyLength = 0 } = params;
  const hasDetail = historyLength > 0 || params.includeArtifacts;
  return context.run(listA2aTasksOperation, {
    ...aboutOf(context),
    context_id: contextId,
    state: fromWireState(status),
    since: statusTimestampAfter === undefined ? null : Date.parse(statusTimestampAfter),
    limit: hasDetail ? Math.min(pageSize, maxDetailed) : pageSize,
    cursor: pageToken,
    history_length: Math.min(historyLength, maxListedHistory),
    has_artifacts: params.includeArtifacts,
  });
}

export async function cancel(context: CallContext, { id: task_id }: TaskRequest): Promise<object> {
  const canceled = await context.run(cancelA2aTaskOperation, { ...aboutOf(context), task_id });
  return canceled.task;
}

/** Streams an open task. With `Last-Event-ID`, the stream has the updates after that event. */
export async function subscribe(context: CallContext, { id: task_id }: TaskRequest): Promise<null> {
  await consumeStream(context);
  const input = { ...aboutOf(context), task_id };
  const found = await context.run(getA2aTaskOperation, input, { already_consumed: true });
  if (!found.is_open) {
    const message = 'This task has ended, so it has no further updates. Use GetTask instead.';
    throw new A2aRefusal('UNSUPPORTED_OPERATION', message);
  }
  const generation = Math.min(readLastEventId(context.request.ctx) ?? found.generation, found.generation);
  return streamTask(context, { task: found.task, task_id, generation, isOver: false });
}

/** Returns the extended card of the agent, signed. */
export async function getExtendedCard(context: CallContext): Promise<object> {
  const { agent } = context.request;
  const card = await context.run(getExtendedAgentCardOperation, { agent_ref: agent });
  return signCard(context, a2aCardSchema.parse(card));
}

/** @throws {DomainError} RATE_LIMITED */
function consumeStream({ limits, request: { actor, onRateLimit } }: CallContext): Promise<void> {
  return limits.consume('event_stream', actor.agent_id, onRateLimit);
}

/** The generation of the last event that the client received, if it resumes a stream (HTML, Server-sent events). */
function readLastEventId(ctx: Context): number | undefined {
  const text = ctx.get('Last-Event-ID');
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
