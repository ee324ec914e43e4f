import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { Context } from 'koa';
import { z } from 'zod';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { LiveEvent, Realtime, StreamReader } from '../../../realtime/contract.ts';
import { createSseStream, sendStream, type SseStream } from '../../http/sse.ts';
import { updatedMessage } from '../notifications/notifications.ts';
import { McpHttpError, parseRequest, rpcCodes } from '../protocol/errors.ts';
import type { Caller } from '../protocol/exchange.ts';
import { readField } from '../protocol/required-scopes.ts';
import { tasksExtension } from '../tasks/task-methods.ts';
import { detailedTask, type Task, type TaskSource } from '../tasks/task-source.ts';
import { requireStreams } from '../protocol/post.ts';
import { consumeBudget } from '../protocol/rate-limit.ts';
import type { serverInfo } from '../protocol/server.ts';
import { findChangedResources } from '../resources/changed-resources.ts';
import type { Resources } from '../resources/resources.ts';
import type { StreamSet } from '../sessions/stream-set.ts';
import { createRequestStream, type Notification } from './request-stream.ts';

export interface ListenParts {
  resources: Resources;
  tasks: TaskSource;
  realtime: Realtime;
  limits: RateLimits;
  streams: StreamSet;
  heartbeat_ms: number;
  onSlowReader: (() => void) | undefined;
  serverInfo: ReturnType<typeof serverInfo>;
}

/** Serves `subscriptions/listen`. The scopes of the resources are checked already. */
export type Listen = (ctx: Context, caller: Caller, message: JSONRPCRequest) => Promise<void>;

const maxSubscriptions = 500;
const maxTasks = 50;

const requestSchema = z.object({
  params: z.object({
    notifications: z.looseObject({
      resourceSubscriptions: z.array(z.string().max(2_000)).max(maxSubscriptions).optional(),
      taskIds: z.array(z.string().max(1_000)).max(maxTasks).optional(),
    }),
  }),
});

/** What a stream reports. */
interface Filter {
  /** Names of resources, as the client writes them. */
  names: readonly string[];
  task_ids: readonly string[];
}

/**
 * `subscriptions/listen` (MCP, Subscriptions): a stream of `notifications/resources/updated` and `notifications/tasks`. It reads the feed of
 * the agent, so that one agent never learns of the changes of another one, whatever name both subscribe to. Names of resources that the
 * agent cannot read are accepted like others: they look alike, and no event of them is in the feed. Tasks of others are left out, like
 * unknown ones. The lists of tools, prompts and resources never change.
 */
export function createListen(parts: ListenParts): Listen {
  const { resources, realtime, limits, streams, tasks, heartbeat_ms, onSlowReader } = parts;

  /** The states of these tasks, without unknown ones. */
  async function readTasks(caller: Caller, ids: readonly string[]) {
    const call = { caller, signal: new AbortController().signal };
    const found = await Promise.all(ids.map(async (id) => ({ id, task: await tasks.read(call, id) })));
    return found.flatMap(({ id, task }) => (task ? [{ id, task }] : []));
  }

  /** Opens the feed at its end for an event stream, which closes it. Then reads the tasks: one that has ended before has no event. */
  async function follow(
    { caller, body, taskIds }: { caller: Caller; body: SseStream['body']; taskIds: readonly string[] },
    reader: Omit<StreamReader, 'transport'>,
  ) {
    try {
      const { cursor } = await realtime.startOf(caller.actor, 'latest');
      const stream = await realtime.open(caller.actor, { cursor }, { ...reader, transport: 'mcp' });
      body.once('close', () => stream.close());
      return { stream, ended: (await readTasks(caller, taskIds)).filter(({ task }) => isEnded(task)) };
    } catch (error) {
      body.destroy();
      throw error;
    }
  }

  return async function listen(ctx, caller, message) {
    const { actor } = caller;
    const requested = readFilter(ctx, caller, message);
    await consumeBudget(limits, 'event_stream', actor);
    // What the stream reads later counts no more.
    if (requested.task_ids.length > 0)
      await consumeBudget(limits, 'default', actor, requested.task_ids.length);
    const resourceSubscriptions = requested.names.filter((name) => resources.find(name) !== undefined);
    const taskIds = (await readTasks(caller, requested.task_ids)).map(({ id }) => id);
    const sse = createRequestStream(
      createSseStream(heartbeat_ms, onSlowReader),
      message.id,
      parts.serverInfo,
    );
    const { stream, ended } = await follow(
      { caller, body: sse.body, taskIds },
      {
        // The agent gets names of resources and none of their content.
        showsContent: false,
        async deliver(events) {
          const names = findChangedResources(events, requested.names, resources);
          const states = await readTasks(caller, findChangedTasks(events, taskIds));
          await sse.notify([...names.map((name) => updatedMessage(name)), ...states.map(taskMessage)]);
        },
        onEnded: () => sse.end(),
      },
    );
    streams.add({ sse, session: undefined, actor });
    sendStream(ctx, sse);
    const notifications = {
      ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }),
      ...(taskIds.length > 0 && { taskIds }),
    };
    const method = 'notifications/subscriptions/acknowledged';
    await sse.notify([{ jsonrpc: '2.0', method, params: { notifications } }, ...ended.map(taskMessage)]);
    if (Object.keys(notifications).length === 0) sse.end();
    else stream.start();
  };
}

function isEnded({ status }: Task): boolean {
  return status !== 'working' && status !== 'input_required';
}

/** The tasks that these events changed. */
function findChangedTasks(events: readonly LiveEvent[], taskIds: readonly string[]): string[] {
  const changed = new Set(
    events.flatMap(({ type, data }) => {
      if (type === 'task.updated') return [readField(readField(data, 'task'), 'id')];
      return type === 'approval.resolved' ? [readField(data, 'approval_id')] : [];
    }),
  );
  return taskIds.filter((id) => changed.has(id));
}

function taskMessage({ id, task }: { id: string; task: Task }): Notification {
  return { jsonrpc: '2.0', method: 'notifications/tasks', params: detailedTask(id, task) };
}

function readFilter(ctx: Context, { client }: Caller, request: JSONRPCRequest): Filter {
  requireStreams(ctx);
  const { resourceSubscriptions, taskIds } = parseRequest(requestSchema, request).params.notifications;
  if (taskIds && !client?.hasTasks) {
    const data = { requiredCapabilities: { extensions: { [tasksExtension]: {} } } };
    const text = `This needs the client capability ${tasksExtension}.`;
    throw new McpHttpError(400, rpcCodes.missingCapability, text, { data });
  }
  return { names: [...new Set(resourceSubscriptions)], task_ids: [...new Set(taskIds)] };
}
