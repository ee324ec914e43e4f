import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCRequest,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import type { Result } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import type { SealedBox } from '../../../shared/encryption.ts';
import { eventsCapability } from '../../../../packages/core/src/domain/feed/event-dialects.ts';
import { createSseStream } from '../../http/sse.ts';
import type { McpParts } from '../parts.ts';
import { instructions } from '../prompts/instructions.ts';
import { McpHttpError, RpcError, rpcCodes, toRpcError } from '../protocol/errors.ts';
import { type Caller, createNotices, type Exchange } from '../protocol/exchange.ts';
import { statelessRevision } from '../protocol/headers.ts';
import type { Method } from '../protocol/methods.ts';
import { readField } from '../protocol/required-scopes.ts';
import type { RunningCalls } from '../protocol/running-calls.ts';
import { serverInfo } from '../protocol/server.ts';
import { createDeferrableCall, requireTasks, tasksExtension } from '../tasks/task-methods.ts';
import type { TaskSource } from '../tasks/task-source.ts';
import type { Tool } from '../tools/tools.ts';
import { viewsExtension } from '../views/views-extension.ts';
import { createInputRound, type InputRound } from './input-round.ts';
import { createReply, type Reply } from './reply.ts';
import { openRequestState } from './request-state.ts';

export interface DispatchParts extends Pick<
  McpParts,
  'version' | 'public_url' | 'logger' | 'heartbeat_ms' | 'onSlowReader'
> {
  methods: ReadonlyMap<string, Method>;
  runningCalls: RunningCalls;
  sealedBox: SealedBox;
  tasks: TaskSource;
  tools: ReadonlyMap<string, Tool>;
}

interface StatelessCall {
  caller: Caller;
  message: JSONRPCRequest;
  reply: Reply;
}

/** The lists change only with a release. They depend on the scopes of the token, or are the same for every agent. */
const listLifetimeMs = 300_000;
const ownList = { ttlMs: listLifetimeMs, cacheScope: 'private' };
const commonList = { ttlMs: listLifetimeMs, cacheScope: 'public' };
const cacheHints = new Map([
  ['server/discover', ownList],
  ['tools/list', ownList],
  ['prompts/list', commonList],
  ['resources/list', commonList],
  ['resources/templates/list', commonList],
  ['resources/read', { ttlMs: 0, cacheScope: 'private' }],
]);

const capabilities = {
  tools: {},
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
  events: eventsCapability.events,
  extensions: { [tasksExtension]: {}, [viewsExtension]: {}, ...eventsCapability.extensions },
};

/** The methods whose result may ask the client (MCP, Multi Round-Trip Requests). */
const askingMethods = new Set(['tools/call', 'prompts/get', 'resources/read']);

/**
 * Answers the requests of revision 2026-07-28 that have one result, directly from the methods of all revisions. An SDK server per request
 * would cost more than the call itself. Scopes, revision and headers are checked already.
 */
export function createDispatch(parts: DispatchParts) {
  const { heartbeat_ms = 15_000 } = parts;
  const identity = serverInfo(parts);
  const methods = new Map([...parts.methods, ['server/discover', discover] as const]);

  async function run(method: Method, call: StatelessCall): Promise<void> {
    const { message, reply } = call;
    try {
      const result = await runMethod(parts, method, call);
      reply.send({ result: encodeResult(message.method, result, identity) });
    } catch (thrown) {
      const { code, message: text, data } = toWireError(parts, call.caller, thrown);
      const error = { code, message: text, ...(data !== undefined && { data }) };
      reply.send({ error }, code === rpcCodes.missingCapability ? 400 : 200);
    }
  }

  return async function dispatch(ctx: Context, caller: Caller, message: JSONRPCRequest): Promise<void> {
    const method = methods.get(message.method);
    if (!method) throw new McpHttpError(404, rpcCodes.methodNotFound, 'Method not found');
    const reply = createReply(ctx, message.id, () => createSseStream(heartbeat_ms, parts.onSlowReader));
    // A proxy or a client may end a response that stays silent.
    if (caller.isStreaming && calledTool(parts, message)?.waits) reply.open();
    void run(method, { caller, message, reply });
    await reply.begun;
  };
}

/** `server/discover` (MCP, Discovery). */
const discover: Method = (_request, { caller }) => ({
  supportedVersions: [statelessRevision],
  capabilities,
  instructions: instructions(caller.actor.handle, 'sign_in'),
});

async function runMethod(parts: DispatchParts, method: Method, call: StatelessCall): Promise<Result> {
  const { caller, message, reply } = call;
  if (!askingMethods.has(message.method))
    return method(message, { caller, withExchange: (use) => withExchange(parts, call, {}, use) });
  if (calledTool(parts, message)?.needsTasks) requireTasks(caller);
  const round = createInputRound({
    ...openRequestState(parts, caller, message),
    responses: readField(message.params, 'inputResponses'),
    capabilities: readField(readField(message.params, '_meta'), CLIENT_CAPABILITIES_META_KEY),
  });
  const deferrable = caller.client?.hasTasks ? createDeferrableCall(parts.tasks) : undefined;
  const exchange = {
    ask: round.ask,
    answered: round.answered,
    ...(deferrable && { defer: deferrable.defer, continueAs: deferrable.continueAs }),
  };
  const result = await answerOrAsk(round, async () =>
    method(message, { caller, withExchange: (use) => withExchange(parts, call, exchange, use) }),
  );
  return deferrable ? { ...(await deferrable.toResult({ caller, signal: reply.signal }, result)) } : result;
}

function calledTool({ tools }: DispatchParts, { method, params }: JSONRPCRequest): Tool | undefined {
  return method === 'tools/call' ? tools.get(String(readField(params, 'name'))) : undefined;
}

/** The questions to the client, if the call failed because it has to ask them. */
async function answerOrAsk(round: InputRound, run: () => Promise<Result>): Promise<Result> {
  try {
    const result = await run();
    return round.isOpen() && result['isError'] === true ? round.toResult() : result;
  } catch (error) {
    if (round.isOpen()) return round.toResult();
    throw error;
  }
}

/** Runs a call with its exchange. The call ends when its connection closes. */
async function withExchange<T>(
  { runningCalls }: DispatchParts,
  { caller, message, reply }: StatelessCall,
  questions: Pick<Exchange, 'ask' | 'defer' | 'continueAs'>,
  run: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const running = runningCalls.begin(undefined, message.id, reply.signal);
  const progressToken = readField(readField(message.params, '_meta'), 'progressToken');
  try {
    return await run({
      get signal() {
        return running.signal;
      },
      ...questions,
      ...createNotices(caller, progressToken, reply.notify),
    });
  } finally {
    running.end();
  }
}

/** Adds what every result of this revision has: its type, the identity of the server and, for lists, how long it is valid. */
function encodeResult(method: string, result: Result, identity: ReturnType<typeof serverInfo>): object {
  const { resultType = 'complete', _meta } = result;
  const hints = resultType === 'complete' && cacheHints.get(method);
  return { ...hints, ...result, resultType, _meta: { [SERVER_INFO_META_KEY]: identity, ..._meta } };
}

/** The error as this revision has it. */
function toWireError({ logger }: DispatchParts, caller: Caller, thrown: unknown): RpcError {
  const { code, message, data } = toRpcError(logger, caller, thrown);
  // There is no code of its own for absent resources any more.
  return new RpcError(code === rpcCodes.resourceNotFound ? rpcCodes.invalidParams : code, message, { data });
}
