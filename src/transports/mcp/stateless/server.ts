import { type JSONRPCRequest, type Result, Server, type ServerContext } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { z } from 'zod';
import type { SealedBox } from '../../../shared/encryption.ts';
import { eventsCapability } from '../../../domain/feed/event-dialects.ts';
import type { McpParts } from '../parts.ts';
import { instructions } from '../prompts/instructions.ts';
import type { Caller, Exchange } from '../protocol/exchange.ts';
import type { Method } from '../protocol/methods.ts';
import type { RunningCalls } from '../protocol/running-calls.ts';
import { serverInfo } from '../protocol/server.ts';
import { createInputRound, type InputRound } from './input-round.ts';
import {
  createDeferrableCall,
  type DeferrableCall,
  requireTasks,
  tasksExtension,
} from '../tasks/task-methods.ts';
import type { TaskCall, TaskSource } from '../tasks/task-source.ts';
import type { Tool } from '../tools/tools.ts';
import { createRequestStates, type RequestState } from './request-state.ts';

export interface StatelessServerParts extends Pick<McpParts, 'version' | 'public_url' | 'logger'> {
  methods: ReadonlyMap<string, Method>;
  runningCalls: RunningCalls;
  sealedBox: SealedBox;
  tasks: TaskSource;
  tools: ReadonlyMap<string, Tool>;
}

/** One request of revision 2026-07-28 or later. */
export interface StatelessCall {
  caller: Caller;
  message: Pick<JSONRPCRequest, 'method' | 'params'>;
}

/** The lists change only with a release. They depend on the scopes of the token, or are the same for every agent. */
const listLifetimeMs = 300_000;
const ownList = { ttlMs: listLifetimeMs, cacheScope: 'private' } as const;
const commonList = { ttlMs: listLifetimeMs, cacheScope: 'public' } as const;
const cacheHints = {
  'server/discover': ownList,
  'tools/list': ownList,
  'prompts/list': commonList,
  'resources/list': commonList,
  'resources/templates/list': commonList,
  'resources/read': { ttlMs: 0, cacheScope: 'private' },
} as const;

const capabilities = {
  tools: {},
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
  events: eventsCapability.events,
  extensions: { [tasksExtension]: {}, ...eventsCapability.extensions },
};
const anyParams = z.looseObject({});

/** Creates an SDK server per request of revision 2026-07-28. It has the methods of all revisions; the SDK rejects those of older ones. */
export function createStatelessServerFactory(parts: StatelessServerParts): (call: StatelessCall) => Server {
  const info = serverInfo(parts);
  const jsonSchemaValidator = new AjvJsonSchemaValidator();

  return function makeServer({ caller, message }) {
    const states = createRequestStates(parts.sealedBox, caller.actor.agent_id, message);
    const server = new Server(info, {
      capabilities,
      cacheHints,
      instructions: instructions(caller.actor.handle, { hasSession: false }),
      jsonSchemaValidator,
      requestState: { verify: (state) => states.open(state) },
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no event listeners
    server.onerror = (error) =>
      parts.logger.debug({ err: error, request_id: caller.request_id }, 'MCP message');
    const method = parts.methods.get(message.method);
    if (method) {
      server.setRequestHandler(message.method, { params: anyParams }, (params, context) => {
        const round = createInputRound({
          states,
          state: context.mcpReq.requestState<RequestState>(),
          responses: context.mcpReq.inputResponses ?? {},
        });
        const calledTool =
          message.method === 'tools/call' ? parts.tools.get(String(params['name'])) : undefined;
        if (calledTool?.needsTasks) requireTasks(caller);
        const deferrable = caller.client?.hasTasks ? createDeferrableCall(parts.tasks) : undefined;
        return answer({ round, deferrable, caller, signal: context.mcpReq.signal }, async () =>
          method(
            // The SDK takes the responses out of the params of every request.
            { method: message.method, params: { ...params, inputResponses: context.mcpReq.inputResponses } },
            {
              caller,
              withExchange: (run) =>
                withExchange(parts, { caller, context, round, defer: deferrable?.defer }, run),
            },
          ),
        );
      });
    }
    return server;
  };
}

/** Answers a call that failed because it has to ask its client, or that continues as a task, with the questions or with the task. */
async function answer(
  { round, deferrable, ...call }: TaskCall & { round: InputRound; deferrable: DeferrableCall | undefined },
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await run();
    if (round.isOpen() && result['isError'] === true) return round.toResult();
    return deferrable ? { ...(await deferrable.toResult(call, result)) } : result;
  } catch (error) {
    if (round.isOpen()) return round.toResult();
    throw error;
  }
}

/** Runs a call with its exchange. The call ends when its connection closes. */
async function withExchange<T>(
  { runningCalls, logger }: StatelessServerParts,
  {
    caller,
    context,
    round,
    defer,
  }: { caller: Caller; context: ServerContext; round: InputRound; defer: Exchange['defer'] },
  run: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const { mcpReq } = context;
  const call = runningCalls.begin(undefined, mcpReq.id, mcpReq.signal);
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  const onFailure = (error: unknown) => logger.debug({ err: error }, 'sending a notification failed');
  try {
    return await run({
      get signal() {
        return call.signal;
      },
      ask: (question) => round.ask(question),
      ...(defer && { defer }),
      ...(caller.isStreaming && {
        log: (level, name, data) => void mcpReq.log(level, data, name).catch(onFailure),
      }),
      ...(caller.isStreaming &&
        progressToken !== undefined && {
          progress: (progress, total) => {
            const params = { progressToken, progress, total };
            void mcpReq.notify({ method: 'notifications/progress', params }).catch(onFailure);
          },
        }),
    });
  } finally {
    call.end();
  }
}
