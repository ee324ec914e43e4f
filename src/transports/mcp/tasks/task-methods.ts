import { z } from 'zod';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { Caller, Exchange } from '../protocol/exchange.ts';
import { missingCapability, parseRequest, RpcError, rpcCodes } from '../protocol/errors.ts';
import type { Method } from '../protocol/methods.ts';
import { detailedTask, type Task, type TaskCall, taskFields, type TaskSource } from './task-source.ts';

/** The extension (SEP-2663). */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

const getParams = z.looseObject({ taskId: z.string().max(1_000) });
const updateParams = getParams.extend({ inputResponses: z.record(z.string(), z.unknown()) });

/** @throws {RpcError} -32021 if the request does not declare the extension. */
export function requireTasks({ client }: Pick<Caller, 'client'>): void {
  if (client?.hasTasks) return;
  throw missingCapability({ extensions: { [tasksExtension]: {} } });
}

/** `tasks/get`, `tasks/update` and `tasks/cancel` over all sources of tasks. Each counts as one call. */
export function createTaskMethods(tasks: TaskSource, limits: RateLimits): ReadonlyMap<string, Method> {
  const withTask = <Params extends { taskId: string }>(
    schema: z.ZodType<Params>,
    run: (call: TaskCall, params: Params, task: Task) => Promise<object>,
  ): Method => {
    const requestSchema = z.object({ params: schema });
    return (request, { caller, withExchange }) => {
      requireTasks(caller);
      const { params } = parseRequest(requestSchema, request);
      return withExchange(async ({ signal }) => {
        const call = { caller, signal };
        await limits.consume('default', caller.actor.agent_id);
        const task = await tasks.read(call, params.taskId);
        if (!task)
          throw new RpcError(rpcCodes.invalidParams, 'Unknown task: it does not exist or has expired.');
        return { ...(await run(call, params, task)) };
      });
    };
  };

  return new Map<string, Method>([
    ['tasks/get', withTask(getParams, async (_call, { taskId }, task) => detailedTask(taskId, task))],
    [
      'tasks/update',
      withTask(updateParams, async (call, { taskId, inputResponses }) => {
        await tasks.update(call, taskId, inputResponses);
        return {};
      }),
    ],
    [
      'tasks/cancel',
      withTask(getParams, async (call, { taskId }) => {
        await tasks.cancel(call, taskId);
        return {};
      }),
    ],
  ]);
}

/** A call that may continue as a task. */
export interface DeferrableCall {
  defer: NonNullable<Exchange['defer']>;
  continueAs: NonNullable<Exchange['continueAs']>;
  /** The result of the call: the task, if the call continues as one. */
  toResult<Result extends object>(call: TaskCall, result: Result): Promise<Result | object>;
}

/** Creates the part of an exchange through which an operation says that its call continues as a task. */
export function createDeferrableCall(tasks: TaskSource): DeferrableCall {
  let deferred: string | undefined;
  let begun: string | undefined;
  return {
    continueAs(id) {
      begun = id;
    },
    defer(id) {
      deferred = id;
    },
    async toResult(call, result) {
      const isFailed = 'isError' in result && result.isError === true;
      const id = isFailed ? deferred : begun;
      const task = id === undefined ? undefined : await tasks.read(call, id);
      if (id === undefined || !task) return result;
      // It may have ended in the meantime.
      return task.result ?? { resultType: 'task', ...taskFields(id, task) };
    },
  };
}

/** The first source that knows a task has it. */
export function joinTaskSources(sources: readonly TaskSource[]): TaskSource {
  return {
    async read(call, id) {
      for (const source of sources) {
        const task = await source.read(call, id);
        if (task) return task;
      }
      return undefined;
    },
    async update(call, id, responses) {
      for (const source of sources) await source.update(call, id, responses);
    },
    async cancel(call, id) {
      for (const source of sources) await source.cancel(call, id);
    },
  };
}
