import { randomUUID } from 'node:crypto';
import { parseSseStream } from '@a2a-js/sdk';
import { expectValidA2a } from '../../../support/a2a/expect-valid.ts';
import { type A2aOperation, operations } from '../../../support/a2a/operations.ts';
import type { A2aType } from '../../../support/a2a/schemas.ts';
import type { Step } from './documents.ts';

export type Binding = 'jsonrpc' | 'rest';
export type Fields = Record<string, unknown>;

/** The documents name four operations differently than ACTS does. */
const otherNames: Record<string, string> = {
  set_push_notification_config: 'create_push_config',
  get_push_notification_config: 'get_push_config',
  list_push_notification_configs: 'list_push_configs',
  delete_push_notification_config: 'delete_push_config',
};

/** An error of either binding. */
export interface A2aError {
  /** As A2A names it, such as `TaskNotFoundError`; undefined for errors that A2A has no name for. */
  name: string | undefined;
  message: unknown;
  data: unknown;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Of an operation: the object of A2A, without its envelope. Of a raw request: the body. */
  body: unknown;
  error?: A2aError;
  /** Of a stream. */
  events?: unknown[];
}

/** Gets each event of a stream as it comes. The runner leaves the stream when it returns false. */
export type OnEvent = (event: unknown) => boolean;

/** A message of the client needs an ID, and has the IDs of its task and context itself. The documents leave that to the runner. */
function completeMessage(params: Fields): Fields {
  const { message, taskId, contextId, ...others } = params;
  if (typeof message !== 'object' || message === null) return params;
  const ids = { ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) };
  return { ...others, message: { messageId: randomUUID(), ...ids, ...message } };
}

function completeParams(params: Fields): Fields {
  const { pushNotificationConfig, ...others } = params;
  if (typeof pushNotificationConfig === 'object') return { ...others, ...pushNotificationConfig };
  return completeMessage(params);
}

/** One agent over one binding. `headers` are sent with each request of an operation. */
export function connectWire(binding: Binding, base: string, headers: Record<string, string>) {
  const ownHeaders = { 'A2A-Version': '1.0', ...headers };

  async function call(name: string, params: Fields, onEvent?: OnEvent): Promise<Answer> {
    if (name === 'get_agent_card' && params['extended'] === true) return call('get_extended_agent_card', {});
    if (name === 'get_agent_card') return readCard();
    const operation = operations[otherNames[name] ?? name];
    if (!operation) throw new Error(`no operation ${name}`);
    const completed = completeParams(params);
    const response =
      binding === 'jsonrpc' ? await callJsonRpc(operation, completed) : await callHttp(operation, completed);
    return readAnswer(response, operation.answer, onEvent);
  }

  async function readCard(): Promise<Answer> {
    const response = await fetch(`${base}/.well-known/agent-card.json`, { headers: ownHeaders });
    const body: unknown = await response.json();
    expectValidA2a('AgentCard', body);
    return { status: response.status, headers: response.headers, body };
  }

  const callJsonRpc = ({ method }: A2aOperation, params: Fields) =>
    post(base, { jsonrpc: '2.0', id: randomUUID(), method, params });

  async function callHttp({ http, path, answer }: A2aOperation, params: Fields): Promise<Response> {
    const rest = { ...params };
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest[name];
      delete rest[name];
      return encodeURIComponent(String(value));
    });
    if (http === 'POST') return post(base + address, rest);
    const query = new URLSearchParams(Object.entries(rest).map(([key, value]) => [key, String(value)]));
    const accept = answer === 'StreamResponse' ? { Accept: 'text/event-stream' } : {};
    return fetch(`${base}${address}?${query}`, { method: http, headers: { ...ownHeaders, ...accept } });
  }

  const post = (url: string, body: Fields) =>
    fetch(url, {
      method: 'POST',
      headers: { ...ownHeaders, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  async function readAnswer(response: Response, type: A2aType, onEvent?: OnEvent): Promise<Answer> {
    const { status, headers: received } = response;
    if (received.get('content-type')?.startsWith('text/event-stream')) {
      const events: unknown[] = [];
      for await (const { data } of parseSseStream(response)) {
        const json: unknown = JSON.parse(data);
        const event = binding === 'jsonrpc' ? (json as { result?: unknown }).result : json;
        expectValidA2a(type, event);
        events.push(event);
        if (onEvent && !onEvent(event)) break;
      }
      return { status, headers: received, body: undefined, events };
    }
    const text = await response.text();
    const json = text === '' ? {} : (JSON.parse(text) as Fields);
    const { result, error } = binding === 'jsonrpc' ? json : { result: json, error: json['error'] };
    if (error !== undefined)
      return { status, headers: received, body: json, error: readError(error as Fields) };
    expectValidA2a(type, result ?? {});
    return { status, headers: received, body: result };
  }

  function readError(error: Fields): A2aError {
    if (binding === 'jsonrpc') expectValidA2a('JsonRpcError', error);
    else expectValidA2a('HttpError', { error });
    const data = error['data'] ?? error['details'];
    const info = Array.isArray(data)
      ? (data as Fields[]).find(({ reason }) => typeof reason === 'string')
      : undefined;
    const byReason = info && nameError(String(info['reason']));
    return {
      name: binding === 'jsonrpc' ? namesByCode[Number(error['code'])] : byReason,
      message: error['message'],
      data,
    };
  }

  /** A request as a document writes it, with a message that is complete. */
  async function callRaw(raw: NonNullable<Step['raw']>, isAuthenticated: boolean): Promise<Answer> {
    const { body } = raw;
    const params = (body as { params?: Fields } | undefined)?.params;
    const completed = params ? { ...(body as Fields), params: completeMessage(params) } : body;
    const payload = raw.body_raw ?? (completed === undefined ? undefined : JSON.stringify(completed));
    const response = await fetch(base + raw.path, {
      method: raw.method,
      headers: { ...(isAuthenticated && headers), ...raw.headers },
      ...(payload !== undefined && { body: payload }),
    });
    const { status, headers: received } = response;
    if (received.get('content-type')?.startsWith('text/event-stream')) {
      const events: unknown[] = [];
      for await (const { data } of parseSseStream(response)) events.push(JSON.parse(data));
      return { status, headers: received, body: undefined, events };
    }
    const text = await response.text();
    return { status, headers: received, body: text === '' ? undefined : JSON.parse(text) };
  }

  return { binding, base, call, callRaw };
}

export type Wire = ReturnType<typeof connectWire>;

/** Section 5.4 of A2A 1.0. */
const namesByCode: Record<number, string> = {
  [-32_001]: 'TaskNotFoundError',
  [-32_002]: 'TaskNotCancelableError',
  [-32_003]: 'PushNotificationNotSupportedError',
  [-32_004]: 'UnsupportedOperationError',
  [-32_005]: 'ContentTypeNotSupportedError',
  [-32_009]: 'VersionNotSupportedError',
  [-32_602]: 'InvalidParamsError',
};

/** `TASK_NOT_FOUND` is the reason of `TaskNotFoundError`. */
const nameError = (reason: string): string =>
  `${reason.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Error`;
