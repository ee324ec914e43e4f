import { expect, onTestFinished, test } from 'vitest';
import { type OutgoingPolicy, outgoingPolicies } from '../../../packages/core/src/domain/agents/agents.ts';
import { a2aAddress, createA2aClient, toA2aMessage } from '../../clients/a2a.ts';
import { askStateless } from '../../clients/mcp/stateless-request.ts';
import type { TestAgent } from '../../support/service.ts';
import { useService } from '../../support/service.ts';
import { connectModel, inboxOf } from '../inbox/setup.ts';
import { call, connectCaller } from '../ws/caller.ts';
import { reviewsOf } from './setup.ts';

const service = useService({ worker: false });
const { setPolicy, pair, kinOf, pending, approve, noticed } = reviewsOf(service);

const text = 'May it leave?';

/** A call that sends, with the fields of its operation. */
interface Kind {
  operation: string;
  tool?: string;
  method: 'POST' | 'PATCH';
  path: string;
  input: Record<string, unknown>;
}

interface Scene {
  mine: TestAgent;
  stranger: TestAgent;
  thread: string;
  /** A task that the stranger gave. */
  task: string;
}

/** Each kind of call that shows something to another agent. */
const kinds: Record<string, (scene: Scene) => Promise<Kind>> = {
  message: async ({ thread: thread_id }) => ({
    operation: 'send_message',
    method: 'POST',
    path: `/threads/${thread_id}/messages`,
    input: { thread_id, content: text },
  }),
  batch: async ({ thread: thread_id }) => ({
    operation: 'send_messages',
    method: 'POST',
    path: `/threads/${thread_id}/messages:batch`,
    input: { thread_id, messages: [{ content: text }, { content: 'And this?' }] },
  }),
  ask: async ({ stranger }) => ({
    operation: 'ask_agent',
    tool: 'ask',
    method: 'POST',
    path: '/threads/ask',
    input: { with_handle: stranger.handle, content: text, wait_seconds: 0 },
  }),
  'ask in a thread': async ({ thread: thread_id }) => ({
    operation: 'ask_in_thread',
    method: 'POST',
    path: `/threads/${thread_id}/ask`,
    input: { thread_id, content: text, wait_seconds: 0 },
  }),
  task: async ({ stranger }) => ({
    operation: 'create_task',
    method: 'POST',
    path: '/tasks',
    input: { with_handle: stranger.handle, content: text },
  }),
  'report of a task': async ({ task: task_id }) => ({
    operation: 'update_task',
    method: 'POST',
    path: `/tasks/${task_id}/update`,
    input: { task_id, state: 'completed', message: text },
  }),
  'new thread': async ({ stranger }) => ({
    operation: 'create_thread',
    method: 'POST',
    path: '/threads',
    input: { with_handle: stranger.handle, initial_message: text },
  }),
  'subject of a new thread': async ({ stranger }) => ({
    operation: 'create_thread',
    method: 'POST',
    path: '/threads',
    input: { with_handle: stranger.handle, subject: text },
  }),
  'new subject': async ({ thread: thread_id }) => ({
    operation: 'update_thread',
    method: 'PATCH',
    path: `/threads/${thread_id}`,
    input: { thread_id, subject: text },
  }),
  'new member': async ({ mine, stranger }) => {
    const thread_id = await service.thread(mine, await kinOf(mine));
    const input = { thread_id, handle: stranger.handle };
    return { operation: 'add_thread_member', method: 'POST', path: `/threads/${thread_id}/members`, input };
  },
  'contact request': async ({ stranger: { handle } }) => ({
    operation: 'request_contact',
    method: 'POST',
    path: '/contacts/requests',
    input: { handle, message: text },
  }),
  acknowledgement: async ({ mine, stranger, thread }) => {
    const inbox = inboxOf(service.api, mine);
    await inbox.turnOn();
    onTestFinished(async () => void (await inbox.turnOff()));
    await service.post(stranger, `/threads/${thread}/messages`, { content: 'Well?' });
    const [lease] = await inbox.leases();
    return {
      operation: 'acknowledge_message',
      method: 'POST',
      path: `/inbox/leases/${lease?.id}/acknowledge`,
      input: { lease_id: lease?.id, reply: text },
    };
  },
};

type Outcome = 'sent' | 'held';

/** Each way to make the call. */
const transports: Record<string, (mine: TestAgent, kind: Kind) => Promise<Outcome | undefined>> = {
  async REST(mine, { method, path, input }) {
    const inPath = Object.entries(input).filter(([, value]) => !path.includes(`/${String(value)}`));
    const send = method === 'POST' ? service.post : service.patch;
    const { status, body } = await send(mine, path, Object.fromEntries(inPath));
    if (status !== 202) return expectSent(status, body);
    expect(body.error).toMatchObject({
      code: 'APPROVAL_REQUIRED',
      approval: {
        id: expect.stringMatching(/^apr_/),
        url: expect.stringContaining('/console/approvals/apr_'),
      },
    });
    return 'held';
  },
  async WebSocket(mine, { operation, input }) {
    const caller = await connectCaller(mine, service);
    onTestFinished(() => caller.socket.close());
    const { status, output, error } = await call(caller, operation, input);
    return status === 202 ? expectHeld(error) : expectSent(status, output);
  },
  async 'MCP 2025-11-25'(mine, { operation, tool: name, input }) {
    const { tool, close } = await connectModel(service, mine);
    onTestFinished(close);
    const { isError, value } = await tool(name ?? operation, input);
    return isError ? expectHeld(value.error) : 'sent';
  },
  async 'MCP 2026-07-28'(mine, { operation, tool: name, input }) {
    const token = await service.token(mine.handle, { audience: 'mcp' });
    const params = { name: name ?? operation, arguments: input };
    const { result } = await askStateless(service.url, token, { method: 'tools/call', params });
    const [content] = Object(result).content;
    return Object(result).isError ? expectHeld(JSON.parse(content.text).error) : 'sent';
  },
};

function expectSent(status: number, body: object): Outcome {
  expect([status, body]).toEqual([expect.toSatisfy((code: number) => code < 300), expect.anything()]);
  return 'sent';
}

function expectHeld(error: { code: string }): Outcome {
  expect(error).toMatchObject({ code: 'APPROVAL_REQUIRED' });
  return 'held';
}

/** What a person edits; the whole input is checked again. */
function editOf(kind: string): { texts?: string[] } {
  if (['subject of a new thread', 'new subject', 'new member'].includes(kind)) return {};
  return { texts: kind === 'batch' ? ['One', 'Two'] : ['Edited'] };
}

const withoutTool = new Set(['send_messages', 'ask_in_thread', 'create_task', 'add_thread_member']);

async function setScene(): Promise<Scene> {
  const [mine, stranger] = await pair('free');
  const thread = await service.thread(stranger, mine);
  const { body } = await service.post(stranger, '/tasks', { with_handle: mine.handle, content: 'When?' });
  return { mine, stranger, thread, task: body.id };
}

const cases = Object.keys(transports).flatMap((transport) =>
  Object.keys(kinds).map((kind) => ({ transport, kind })),
);

test.each(cases)('$kind by $transport leaves or waits as the policy says', async ({ transport, kind }) => {
  const run = transports[transport] ?? expect.fail();
  const prepare = kinds[kind] ?? expect.fail();
  const expected: Record<OutgoingPolicy, Outcome> = {
    free: 'sent',
    review_strangers: 'held',
    review_all: 'held',
  };
  for (const policy of outgoingPolicies) {
    const scene = await setScene();
    const { mine, stranger } = scene;
    const prepared = await prepare(scene);
    if (transport.startsWith('MCP') && withoutTool.has(prepared.operation)) return;
    await setPolicy(mine, policy);
    const before = await noticed(stranger);
    // A tool asks a person for this one anyway.
    const isAsked = transport.startsWith('MCP') && kind === 'contact request';
    expect(await run(mine, prepared), policy).toBe(isAsked ? 'held' : expected[policy]);
    if (isAsked) return;
    const held = await pending(mine);
    expect(held.length, policy).toBe(policy === 'free' ? 0 : 1);
    if (policy === 'free') continue;
    expect(await noticed(stranger), policy).toEqual(before);
    expect(held[0]).toMatchObject({ action: prepared.operation, recipients: [stranger.handle] });
    await approve(held[0]?.id ?? '', editOf(kind));
    expect(await noticed(stranger), policy).not.toEqual(before);
    expect(await pending(mine)).toEqual([]);
  }
});

test.each(['JSONRPC', 'HTTP+JSON'] as const)(
  'a message of A2A over %s waits, and is sent once',
  async (binding) => {
    const [mine, stranger] = await pair('review_strangers');
    const client = createA2aClient(binding, a2aAddress(service.url, stranger.handle), mine.token);
    const message = toA2aMessage(text);
    const before = await noticed(stranger);
    const send = () => client.call('SendMessage', { message, configuration: { returnImmediately: true } });
    const [first, again] = [await send(), await send()];
    for (const { error } of [first, again]) expect(JSON.stringify(error)).toContain('APPROVAL_REQUIRED');
    const [held, ...others] = await pending(mine);
    expect([held?.message, others]).toEqual([text, []]);
    expect(await noticed(stranger)).toEqual(before);
    await approve(held?.id ?? '', { texts: ['Edited'] });
    const sent = await send();
    expect(sent.error).toBeUndefined();
    const { body } = await service.get(stranger, '/tasks');
    expect(body.tasks).toHaveLength(1);
    expect(JSON.stringify(sent.result)).toContain('Edited');
    expect(JSON.stringify(sent.result)).not.toContain(text);
  },
);

test('among agents of one owner nothing waits', async () => {
  const [mine] = await pair('review_all');
  const kin = await kinOf(mine);
  const { status } = await service.post(mine, '/threads', { with_handle: kin.handle, initial_message: text });
  expect(status).toBe(201);
});
