import { randomUUID } from 'node:crypto';
import { type A2aType } from '../support/a2a/schemas.ts';
import { expectValidA2a } from '../support/a2a/expect-valid.ts';

/** How a method is called in HTTP+JSON: its verb, and its path with `{name}` for fields of the request. */
const routes = {
  SendMessage: ['POST', '/message:send', 'SendMessageResponse'],
  SendStreamingMessage: ['POST', '/message:stream', 'StreamResponse'],
  GetTask: ['GET', '/tasks/{id}', 'Task'],
  ListTasks: ['GET', '/tasks', 'ListTasksResponse'],
  CancelTask: ['POST', '/tasks/{id}:cancel', 'Task'],
  GetExtendedAgentCard: ['GET', '/extendedAgentCard', 'AgentCard'],
  SubscribeToTask: ['POST', '/tasks/{id}:subscribe', 'StreamResponse'],
  CreateTaskPushNotificationConfig: [
    'POST',
    '/tasks/{taskId}/pushNotificationConfigs',
    'TaskPushNotificationConfig',
  ],
  GetTaskPushNotificationConfig: [
    'GET',
    '/tasks/{taskId}/pushNotificationConfigs/{id}',
    'TaskPushNotificationConfig',
  ],
  ListTaskPushNotificationConfigs: [
    'GET',
    '/tasks/{taskId}/pushNotificationConfigs',
    'ListTaskPushNotificationConfigsResponse',
  ],
  DeleteTaskPushNotificationConfig: ['DELETE', '/tasks/{taskId}/pushNotificationConfigs/{id}', 'Empty'],
} as const satisfies Record<string, readonly [string, string, A2aType]>;

export type A2aMethod = keyof typeof routes;

export const bindings = ['JSONRPC', 'HTTP+JSON'] as const;
export type Binding = (typeof bindings)[number];

export interface A2aOptions {
  /** Default: that of the client. Null: none. */
  token?: string | null;
  headers?: Record<string, string>;
}

export interface A2aAnswer {
  status: number;
  headers: Headers;
  /** The result; undefined for an error. */
  // The tests say what they expect of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  result: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  error: any;
}

/** The address of an agent on a service. */
export const a2aAddress = (url: string, handle: string): string => `${url}/a2a/${handle.replace('.', '/')}`;

/** A message of a client. */
export const toA2aMessage = (text: string, fields: object = {}) => ({
  messageId: randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text }],
  ...fields,
});

/** Calls one agent through one binding. Results are checked against the schema of their type. */
export function createA2aClient(binding: Binding, address: string, token: string) {
  function request(
    method: A2aMethod,
    params: Record<string, unknown>,
    options: A2aOptions,
  ): Promise<Response> {
    const [verb, path] = routes[method];
    const authorization = options.token === undefined ? token : options.token;
    const headers = {
      'A2A-Version': '1.0',
      ...(authorization !== null && { Authorization: `Bearer ${authorization}` }),
      ...options.headers,
    };
    if (binding === 'JSONRPC') {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
      return fetch(address, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', ...headers },
      });
    }
    const rest = { ...params };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      delete rest[name];
      return encodeURIComponent(String(params[name]));
    });
    const url = new URL(`${address}${filled}`);
    if (verb === 'DELETE') return fetch(url, { method: verb, headers });
    if (verb === 'GET') {
      for (const [name, value] of Object.entries(rest)) url.searchParams.set(name, String(value));
      return fetch(url, { headers });
    }
    const type = { 'Content-Type': 'application/a2a+json' };
    return fetch(url, { method: verb, body: JSON.stringify(rest), headers: { ...type, ...headers } });
  }

  return {
    async call(
      method: A2aMethod,
      params: Record<string, unknown>,
      options: A2aOptions = {},
    ): Promise<A2aAnswer> {
      const response = await request(method, params, options);
      const { status, headers } = response;
      const body = await response.json();
      const { result, error } =
        binding === 'JSONRPC' ? body : body.error ? body : { result: body, error: undefined };
      if (error === undefined) expectValidA2a(routes[method][2], result);
      else if (binding === 'JSONRPC') expectValidA2a('JsonRpcError', error);
      else expectValidA2a('HttpError', { error });
      return { status, headers, result, error };
    },

    /** Opens a stream. It yields the events with their ids; an error of the answer throws. */
    async stream(
      method: 'SendStreamingMessage' | 'SubscribeToTask',
      params: Record<string, unknown>,
      options: A2aOptions = {},
    ) {
      const response = await request(method, params, options);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
        throw new Error(`no stream: ${response.status} ${await response.text()}`);
      return readEvents(response, binding);
    },
  };
}

type A2aClient = ReturnType<typeof createA2aClient>;

/** An update of a task as a stream tells it: its generation, and its state or that it is a result. */
export type SeenUpdate = [generation: number, what: string];

/**
 * Follows a task over streams until it has ended: each stream resumes after the last event of the one before. Resolves when the first stream is
 * open. A task that ends between two streams has no further stream: its last updates are then missing in `seen`.
 */
export async function followTask(client: A2aClient, id: string): Promise<{ seen: Promise<SeenUpdate[]> }> {
  const open = (last: number) =>
    client.stream('SubscribeToTask', { id }, { headers: { 'Last-Event-ID': String(last) } });

  async function readFrom(first: Awaited<ReturnType<typeof open>>): Promise<SeenUpdate[]> {
    const seen: SeenUpdate[] = [];
    for (let stream: typeof first | null = first; stream;) {
      for await (const { id: generation, event } of stream) {
        if (event.task) continue;
        seen.push([Number(generation), event.statusUpdate ? event.statusUpdate.status.state : 'result']);
      }
      stream = await open(seen.at(-1)?.[0] ?? 1).catch(() => null);
    }
    return seen;
  }
  return { seen: readFrom(await open(1)) };
}

/** The updates in these rows of changes, as streams tell them. */
export const toSeenUpdates = (changes: readonly (readonly unknown[])[]): SeenUpdate[] =>
  changes.flatMap(([change, state, generation]): SeenUpdate[] => {
    if (change === 'created') return [];
    return [
      [Number(generation), change === 'result' ? 'result' : `TASK_STATE_${String(state).toUpperCase()}`],
    ];
  });

/** The code of an error, as both bindings tell it. */
export const reasonOf = ({ error }: Pick<A2aAnswer, 'error'>): string | undefined =>
  (error?.data ?? error?.details)?.find((detail: { reason?: string }) => detail.reason !== undefined)?.reason;

/** The fields that an error names. */
export const fieldsOf = ({ error }: Pick<A2aAnswer, 'error'>): string[] =>
  (error?.data ?? error?.details ?? []).flatMap(
    ({ fieldViolations = [] }: { fieldViolations?: { field: string }[] }) =>
      fieldViolations.map(({ field }) => field),
  );

async function* readEvents(response: Response, binding: Binding) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  try {
    for (let rest = ''; ;) {
      const read = await reader?.read();
      if (!read || read.done) return;
      const frames = `${rest}${decoder.decode(read.value, { stream: true })}`.split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data === undefined) continue;
        const parsed = JSON.parse(data);
        const event = binding === 'JSONRPC' ? parsed.result : parsed;
        expectValidA2a('StreamResponse', event);
        yield { id: /^id: (.*)$/m.exec(frame)?.[1], event };
      }
    }
  } finally {
    await reader?.cancel();
  }
}
