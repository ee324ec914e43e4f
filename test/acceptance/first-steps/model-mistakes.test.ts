import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { askStateless } from '../../clients/mcp/stateless-request.ts';
import type { Mistake, ToolCall } from './mistakes/mistake.ts';
import { mistakes } from './mistakes/mistakes.ts';
import { startService, type TestAgent, useSharedService } from '../../support/service.ts';

const service = useSharedService();
let me: TestAgent;
let friend: TestAgent;
let stranger: TestAgent;
let careful: TestAgent;
let mcp: string;
let thread_id: string;
beforeAll(async () => {
  [me, friend, stranger, careful] = await Promise.all([
    service.agent(),
    service.agent(),
    service.agent(),
    service.agent({ inbound_policy: 'contacts_only' }),
  ]);
  mcp = await service.token(me.handle, { audience: 'mcp' });
  thread_id = await createThread();
});

const callOlder = (name: string, args: object) => callToolRaw(service.url, mcp, name, args);

/** A call that must succeed. */
async function use(name: string, args: object): Promise<Record<string, unknown>> {
  const { isError, value } = await callOlder(name, args);
  if (isError) throw new Error(`${name}: ${JSON.stringify(value)}`);
  return value;
}

async function createThread(status = 'active'): Promise<string> {
  const { id } = await use('create_thread', { with_handle: friend.handle, initial_message: 'hello' });
  if (status !== 'active') await use('update_thread', { thread_id: id, status });
  return String(id);
}

async function uploadFile(): Promise<string> {
  return String((await use('upload_attachment', { filename: 'a.txt', text: 'plain' }))['id']);
}

const firstEvents = () => use('wait_for_events', { wait_seconds: 0, cursor: 'earliest', limit: 1 });

/** What the words in capital letters stand for. Each has one value in a mistake. */
const placeholders: Record<string, () => string | Promise<string>> = {
  THREAD: () => thread_id,
  LOWER: () => thread_id.toLowerCase(),
  ACTIVE: () => createThread(),
  CLOSED: () => createThread('closed'),
  ARCHIVED: () => createThread('archived'),
  MESSAGE: async () => Object(Object(await use('get_thread', { thread_id }))['messages'])[0].id,
  FRIEND: () => friend.handle,
  FRIEND_ID: () => friend.id,
  STRANGER: () => stranger.handle,
  CAREFUL: () => careful.handle,
  ME: () => me.handle,
  UUID: () => randomUUID(),
  FILE: uploadFile,
  EVENT: async () => Object((await firstEvents())['events'])[0].id,
  CURSOR: async () => String((await firstEvents())['cursor']),
  async SENT_FILE() {
    const id = await uploadFile();
    await use('send_message', { thread_id, content: 'A file', attachment_ids: [id] });
    return id;
  },
  async USED_KEY() {
    const idempotency_key = randomUUID();
    await use('send_message', { thread_id, content: 'once', idempotency_key });
    return idempotency_key;
  },
  async BLOCKED() {
    const { handle } = await service.agent();
    await use('block_agent', { handle });
    return handle;
  },
  async REQUESTER() {
    const agent = await service.agent();
    await service.post(agent, '/contacts/requests', { handle: me.handle });
    return agent.handle;
  },
};
const placeholder = new RegExp(
  String.raw`(?<![A-Za-z_])(?:${Object.keys(placeholders).join('|')})(?![A-Z_])`,
  'g',
);

/** Fills in what only the run knows. */
async function fillIn<Args extends object | string>(args: Args, values: Map<string, string>): Promise<Args> {
  const text = JSON.stringify(args);
  for (const [name] of text.matchAll(placeholder)) {
    const value = values.get(name) ?? (await placeholders[name]?.());
    if (value !== undefined) values.set(name, value);
  }
  return JSON.parse(text.replaceAll(placeholder, (name) => values.get(name) ?? name)) as Args;
}

interface Answer {
  isError: boolean;
  /** What the model sees. */
  text: string;
}

/** `tools/call`, as both eras of the protocol have it. */
const eras: Record<string, (name: string, args: object | string) => Promise<Answer>> = {
  async '2025-11-25'(name, args) {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    return toAnswer(readRpcResult(await postRawMessage(service.url, mcp, message)));
  },
  async '2026-07-28'(name, args) {
    return toAnswer(
      await askStateless(service.url, mcp, { method: 'tools/call', params: { name, arguments: args } }),
    );
  },
};

function toAnswer({ result, error }: ReturnType<typeof readRpcResult>): Answer {
  if (error) return { isError: true, text: error.message };
  const { isError = false, content } = Object(result);
  const { text } = content[0];
  return { isError, text: isError ? String(JSON.parse(text).error.message) : text };
}

/** A call that asks the user for approval did what it should. */
const succeeds = ({ isError, text }: Answer) => !isError || text.includes('approval_url');

/**
 * Whether an error names what the next call changes: its tool, or each argument that it adds or changes; or what it leaves out, if it
 * changes nothing else.
 */
function namesNext(text: string, [tool, args]: ToolCall, [nextTool, nextArgs]: ToolCall): boolean {
  if (tool !== nextTool) return text.includes(nextTool);
  const [old, wanted] = [args, nextArgs].map((one) => (typeof one === 'string' ? {} : one)) as [
    object,
    object,
  ];
  if (typeof args === 'string') return text.includes('arguments');
  const isChanged = (name: string) =>
    JSON.stringify(Reflect.get(old, name)) !== JSON.stringify(Reflect.get(wanted, name));
  const changed = Object.keys(wanted).filter(isChanged);
  const names = changed.length > 0 ? changed : Object.keys(old).filter(isChanged);
  return names.every((name) => text.includes(name));
}

/** Calls that did not do what was meant, and those of them whose answer leads to a call that does. */
const count = { errors: 0, leading: 0 };
afterAll(() => {
  const share = `${((100 * count.leading) / count.errors).toFixed(1)} %`;
  process.stderr.write(
    `\n${mistakes.length} mistakes, ${count.errors} errors, ${count.leading} lead on by themselves (${share})\n`,
  );
});

/** Makes a mistake in each revision, then the call that should follow in one of them. */
async function play({ call: [tool, rawArgs], answer, next }: Mistake, follow: keyof typeof eras) {
  const answers: Answer[] = [];
  let isLeading = false;
  for (const call of Object.values(eras)) {
    const values = new Map<string, string>();
    const args = await fillIn(rawArgs, values);
    const first = await call(tool, args);
    answers.push(first);
    if (call !== eras[follow] || (!first.isError && answer === undefined)) continue;
    count.errors += 1;
    const nextCall: ToolCall | undefined = next && [next[0], await fillIn(next[1], values)];
    isLeading =
      first.isError &&
      nextCall !== undefined &&
      namesNext(first.text, [tool, args], nextCall) &&
      succeeds(await call(...nextCall));
    if (isLeading) count.leading += 1;
  }
  return { answers, isLeading };
}

describe('in both revisions', () => {
  test.each(mistakes.filter(({ answer }) => answer === undefined))('$name is understood', async (mistake) => {
    const { answers } = await play(mistake, '2025-11-25');
    expect(answers).toMatchObject([{ isError: false }, { isError: false }]);
  });

  test.each(
    mistakes
      .filter(({ answer }) => answer !== undefined)
      .map((mistake, index) => ({ ...mistake, follow: Object.keys(eras)[index % 2] ?? '' })),
  )('$name: the error says what to do', async ({ follow, ...mistake }) => {
    const { answers, isLeading } = await play(mistake, follow);
    for (const { isError, text } of answers) {
      expect(isError).toBe(true);
      if (typeof mistake.answer === 'string') expect(text).toBe(mistake.answer);
      else expect(text).toMatch(mistake.answer ?? /^/);
      // Nothing of another transport or of a library, nothing twice, whole sentences.
      expect(text).not.toMatch(
        /\b(?:GET|PUT|POST|PATCH|DELETE)\b|\/v1\b|HTTP|header|request body|Idempotency-Key|expected|received|Invalid input/,
      );
      expect(text.match(/Fields: /g) ?? []).toHaveProperty('length', text.includes('Fields: ') ? 1 : 0);
      expect(text).toMatch(/[.?]$/);
      expect(text).not.toMatch(/\.;|\.\.|[a-z] Call /);
    }
    expect(isLeading, answers[0]?.text).toBe(true);
  });

  test('at least 95 % of the errors lead on by themselves', () => {
    expect(mistakes.length).toBeGreaterThanOrEqual(160);
    expect(count.leading / count.errors).toBeGreaterThanOrEqual(0.95);
  });
});

test('every tool that an error names exists', async () => {
  const answer = await postRawMessage(service.url, mcp, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const tools = Object(readRpcResult(answer).result)['tools'] as { name: string }[];
  const names = new Set(tools.map(({ name }) => name));
  const errors = mistakes.flatMap(({ answer: text, next }) => (text === undefined || !next ? [] : [next[0]]));
  expect(errors.filter((name) => !names.has(name))).toEqual([]);
});

test('a loop of polls is told to wait for events', async () => {
  const limited = await startService({ worker: false, env: { RATE_LIMITS: 'default=2/60' } });
  try {
    const agent = await limited.agent();
    const token = await limited.token(agent.handle, { audience: 'mcp' });
    const poll = async (name: string, args: object) => {
      for (let calls = 0; calls < 3; calls += 1) await callToolRaw(limited.url, token, name, args);
      return callToolRaw(limited.url, token, name, args);
    };
    for (const [name, args] of [
      ['wait_for_events', { wait_seconds: 0 }],
      ['list_threads', {}],
    ] as const) {
      const { value } = await poll(name, args);
      expect(value).toMatchObject({
        error: {
          code: 'RATE_LIMITED',
          retry_after: expect.any(Number),
          message: expect.stringMatching(
            /try again in \d+ s\. To wait for something new, call wait_for_events with wait_seconds: 25: /,
          ),
        },
      });
    }
  } finally {
    await limited.stop();
  }
});

test('published input schemas have neither alternatives nor null, and are shown as the scopes allow', async () => {
  const list = async (token: string) => {
    const answer = await postRawMessage(service.url, token, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    return Object(readRpcResult(answer).result?.['tools']) as {
      name: string;
      inputSchema: object;
      description: string;
    }[];
  };
  const tools = await list(mcp);
  for (const { name, inputSchema, description } of tools) {
    expect(JSON.stringify(inputSchema), name).not.toMatch(/anyOf|oneOf|"null"/);
    // What the tool does, when to use it, and when not.
    const sentences = description.match(/[.?!](?= |$)/g) ?? [];
    expect(sentences.length, `${name}: ${description}`).toBeGreaterThanOrEqual(2);
    expect(sentences.length, `${name}: ${description}`).toBeLessThanOrEqual(4);
    expect(description, name).toMatch(/\b(?:Use it|Call it|Close a thread)\b/);
    expect(description, name).toMatch(/\bnot\b|\b[a-z]+(?:_[a-z]+)+\b/);
  }
  const reader = await service.token(me.handle, { audience: 'mcp', scopes: ['threads:read'] });
  const names = (await list(reader)).map(({ name }) => name);
  expect(names).toContain('get_thread');
  expect(names).toContain('wait_for_events');
  expect(names).not.toContain('send_message');
  expect(names.length).toBeLessThan(tools.length);
});

test('results carry times as text', async () => {
  const sent = await callOlder('send_message', { thread_id, content: 'seen' });
  // More than a hundred events are pending after all these mistakes.
  const { pending_events_more: _more, ...value } = sent.value;
  expect(Object.keys(value).toSorted()).toEqual(
    ['created_at', 'created_at_text', 'cursor', 'id', 'pending_events', 'sequence', 'thread_id'].toSorted(),
  );
  expect(Date.parse(String(sent.value['created_at_text']))).toBe(sent.value['created_at']);
});

test.each<[string, object]>([
  ['whoami', {}],
  ['create_thread', { with_handle: 'FRIEND' }],
  ['send_message', { thread_id: 'THREAD', content: 'seen' }],
  ['ask', { thread_id: 'THREAD', content: 'seen?', wait_seconds: 0 }],
  ['wait_for_reply', { thread_id: 'THREAD', after_sequence: 1, wait_seconds: 0 }],
  ['wait_for_events', { wait_seconds: 0 }],
])('the result of %s shows cursor and pending_events to the model', async (tool, args) => {
  const { isError, value, structured } = await callOlder(tool, await fillIn(args, new Map()));
  expect(isError).toBe(false);
  expect(value).toMatchObject({ cursor: expect.any(String), pending_events: expect.any(Number) });
  expect(structured).toEqual(value);
});
