import { AgentCard, GetTaskRequest, ListTasksRequest, Message, SendMessageRequest, Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  withA2AExtensions,
} from '@a2a-js/sdk/client';
import { z } from 'zod';
import type { Core } from '../../src/compose.ts';
import { mailboxExtension } from '../../packages/core/src/domain/a2a.ts';
import { maxRemotePauseMs } from '../../packages/core/src/domain/webhooks.ts';
import { type GuardedFetch, RequestFailed } from '../../src/platform/outbound/guarded-fetch.ts';
import { parseRetryAfter } from '../../src/platform/outbound/webhook-sender.ts';
import type { CardIdentity, RemoteAgentRow } from '../../src/repositories/remote/agents.ts';
import type { TokenSource } from './tokens.ts';

/** Longer than a remote side may hold a call that does not wait. */
const limits = { timeoutMs: 20_000, maxBytes: 8 * 1024 * 1024 };

/** Why a call has no result. */
export interface CallFailure {
  /**
   * `retry`: the remote side has not received the call, or will take it later. `unclear`: it may have received it. `task_over`: the task that
   * the call names has ended. `refused`: it will not take it.
   */
  kind: 'retry' | 'unclear' | 'task_over' | 'refused';
  error: { code: string; message: string };
  retryAfterMs: number | undefined;
  /** Whether the other side does not know the token. */
  isUnauthorized: boolean;
}

export type CallResult<Result> = { result: Result; failure: null } | { result: null; failure: CallFailure };

/** The answer to a message: one of the two, as JSON. */
export interface SendAnswer {
  task?: unknown;
  message?: unknown;
}

/** A task as JSON, with the ids of its messages. */
export interface ListedTask {
  task: unknown;
  message_ids: readonly string[];
}

/** Calls one remote agent. Results are JSON of A2A 1.0, in every version that it speaks. */
export interface RemoteClient {
  send(request: object): Promise<CallResult<SendAnswer>>;
  getTask(id: string): Promise<CallResult<unknown>>;
  cancelTask(id: string): Promise<CallResult<unknown>>;
  /** Finds the newest tasks of a context, without their artifacts. A2A 0.3 has no list, so it finds none. */
  listTasks(context_id: string | null): Promise<CallResult<ListedTask[]>>;
}

/** What the last response said, besides its body. */
interface LastResponse {
  status: number | null;
  retryAfterMs: number | undefined;
}

/** Creates a client for what a person confirmed of an agent. */
export async function createRemoteClient(
  { remoteClient }: Pick<Core, 'remoteClient'>,
  { card, confirmed }: Pick<RemoteAgentRow, 'card'> & { confirmed: CardIdentity },
  tokens: TokenSource,
): Promise<RemoteClient> {
  const last: LastResponse = { status: null, retryAfterMs: undefined };
  const fetchImpl = withToken(remoteClient.createFetch(limits), tokens, last);
  const { url, binding, version } = confirmed;
  const interfaces = [{ url, protocolBinding: binding, protocolVersion: version }];
  const legacyCompat = { enabled: true };
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
      new RestTransportFactory({ fetchImpl, legacyCompat }),
    ],
  });
  const { name = 'agent', capabilities = {} } = card ?? {};
  const client = await factory.createFromAgentCard(
    AgentCard.fromJSON({ name, capabilities, supportedInterfaces: interfaces }),
  );

  async function call<Result>(
    run: (client: Client, options: object) => Promise<Result>,
  ): Promise<CallResult<Result>> {
    Object.assign(last, { status: null, retryAfterMs: undefined });
    try {
      const options = { serviceParameters: withExtension() };
      return { result: await run(client, options), failure: null };
    } catch (error) {
      return {
        result: null,
        failure: toFailure(error instanceof Error ? error : new Error(String(error)), last),
      };
    }
  }

  return {
    send: (request) =>
      call(async (to, options): Promise<SendAnswer> => {
        const result = await to.sendMessage(SendMessageRequest.fromJSON(request), options);
        return 'status' in result ? { task: Task.toJSON(result) } : { message: Message.toJSON(result) };
      }),
    getTask: (id) =>
      call(async (to, options) =>
        Task.toJSON(await to.getTask(GetTaskRequest.fromJSON({ id, historyLength: 100 }), options)),
      ),
    cancelTask: (id) =>
      call(async (to, options) =>
        Task.toJSON(await to.cancelTask({ id, tenant: '', metadata: undefined }, options)),
      ),
    listTasks: (contextId) =>
      call(async (to, options) => {
        if (version === '0.3') return [];
        const filter = { ...(contextId !== null && { contextId }), pageSize: 50, historyLength: 20 };
        const { tasks } = await to.listTasks(ListTasksRequest.fromJSON(filter), options);
        return tasks.map((task) => ({
          task: Task.toJSON(task),
          message_ids: task.history.map(({ messageId }) => messageId),
        }));
      }),
  };
}

function withExtension(): Record<string, string> {
  const parameters = {};
  withA2AExtensions(mailboxExtension)(parameters);
  return parameters;
}

/** Adds the token, and a new one once after a 401. */
function withToken(send: GuardedFetch, tokens: TokenSource, last: LastResponse): typeof fetch {
  async function attempt(
    input: string | URL | Request,
    init: RequestInit | undefined,
    renew: boolean,
  ): Promise<Response> {
    const token = await tokens.get(renew).catch((error: unknown) => {
      // The call itself was not sent.
      throw new Error('no token could be had for it', { cause: error });
    });
    const headers = new Headers(init?.headers);
    if (token !== null) headers.set('Authorization', `Bearer ${token}`);
    const response = await send(input, { ...init, headers });
    last.status = response.status;
    const retryAfterMs = parseRetryAfter(response.headers.get('Retry-After'));
    last.retryAfterMs = retryAfterMs && Math.min(retryAfterMs, maxRemotePauseMs);
    return response;
  }
  return async (input, init) => {
    const response = await attempt(input, init, false);
    return response.status === 401 && tokens.isRenewable ? attempt(input, init, true) : response;
  };
}

const endedReasons = new Set(['TASK_NOT_FOUND', 'UNSUPPORTED_OPERATION']);
/** These statuses say that the call was not taken. */
const laterStatuses = new Set([401, 403, 404]);

/** The reason of an error of A2A: that of its ErrorInfo (A2A 1.0, section 9.5), or that of its code. */
function reasonOf(error: Error): string | undefined {
  const { reason, data, details } = error as { reason?: unknown; data?: unknown; details?: unknown };
  const listed = [data, details].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  const known = z.object({ reason: z.string().min(1).max(100) });
  const info = listed.flatMap((detail) => known.safeParse(detail).data ?? [])[0];
  return info?.reason ?? (typeof reason === 'string' ? reason : undefined);
}

/** Whether the remote side failed, as JSON-RPC says it (JSON-RPC 2.0, section 5.1). */
const isInternal = (error: Error): boolean => 'envelopeCode' in error && error.envelopeCode === -32_603;

function toFailure(error: Error, { status, retryAfterMs }: LastResponse): CallFailure {
  const reason = reasonOf(error);
  const isAnswer = reason !== undefined || (status !== null && status >= 400);
  const about = {
    error: {
      code: reason ?? (status === null ? 'NO_ANSWER' : `HTTP_${status}`),
      message: `${isAnswer ? 'The other side answered: ' : ''}${shorten(error)}`,
    },
    retryAfterMs,
    isUnauthorized: status === 401,
  };
  if (error instanceof RequestFailed) return { kind: error.isSent ? 'unclear' : 'retry', ...about };
  if (status === null) return { kind: 'retry', ...about };
  if (reason !== undefined && endedReasons.has(reason)) return { kind: 'task_over', ...about };
  // A proxy got no answer in time.
  if (status === 504) return { kind: 'unclear', ...about };
  if (status === 429 || status >= 500 || isInternal(error) || retryAfterMs !== undefined)
    return { kind: 'retry', ...about };
  // A credential can be replaced, and an agent can come back.
  if (reason === undefined && laterStatuses.has(status)) return { kind: 'retry', ...about };
  if (reason === undefined && status < 300) return { kind: 'unclear', ...about };
  return { kind: 'refused', ...about };
}

/** What a remote side says is shown to people, so it is short. */
const shorten = ({ message }: Error): string => message.replaceAll(/\s+/g, ' ').slice(0, 200);
