import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { type Client, type ClientEvent, memoryCursor } from '../../packages/client/src/main.ts';
import { createClient } from '../../packages/client/src/node/main.ts';
import { connectTools, type LiveEvents, openEvents, type ToolClient } from './connections.ts';

/** What a step found, and how many milliseconds the part took that it measured, if it measured one. */
interface Outcome<T> {
  value?: T;
  seen: string;
  ms?: number;
}

/** Runs one step and reports its result and duration. @throws when the step fails */
export type Step = <T>(name: string, run: () => Promise<Outcome<T>>) => Promise<T>;

export type DemoAgents = Record<'ada' | 'bob' | 'mia', { handle: string; token: string }>;

interface Conversation {
  ada: Client;
  bob: Client;
  mia: ToolClient;
  /** By long poll. */
  adaEvents: LiveEvents;
  /** Over a WebSocket. */
  bobEvents: LiveEvents;
  step: Step;
}

const idOf = (event: ClientEvent) =>
  ('data' in event ? Reflect.get(Object(event.data), 'id') : null) as unknown;
const hasId = (id: string) => (event: ClientEvent) => idOf(event) === id;

/** Runs a call; returns its answer, when it started, and how long it took, in milliseconds. */
async function measure<T>(call: () => Promise<T>) {
  const started = performance.now();
  const value = await call();
  return { value, started, ms: performance.now() - started };
}

/** Runs the conversation of Ada (REST and long poll), Bob (REST and WebSocket) and Mia (an MCP client) over every transport. */
export async function runConversation(url: string, agents: DemoAgents, step: Step): Promise<void> {
  const ada = createClient({ url, auth: agents.ada.token });
  const bob = createClient({ url, auth: agents.bob.token });
  const bobCursor = memoryCursor();
  const adaEvents = await openEvents(ada, 'poll', memoryCursor());
  const bobEvents = await step('Bob opens a WebSocket', async () => ({
    value: await openEvents(bob, 'websocket', bobCursor),
    seen: 'open',
  }));
  const mia = await step('Mia connects as an MCP client', async () => {
    const client = await connectTools(url, agents.mia.token);
    for (const name of ['list_threads', 'get_thread', 'send_message'])
      assert(client.tools.includes(name), name);
    return { value: client, seen: `${client.tools.length} tools, stream open` };
  });
  const conversation: Conversation = { ada, bob, mia, adaEvents, bobEvents, step };
  try {
    const thread_id = await openThread(conversation, [agents.bob.handle, agents.mia.handle]);
    await useTools(conversation, thread_id);
    const missed = await step('Bob disconnects; Ada sends two messages', async () => {
      await bobEvents.close();
      const { value, ms } = await measure(async () => [
        (await ada.messages.send({ thread_id, content: 'The place by the river.' })).id,
        (await ada.messages.send({ thread_id, content: 'I have a table.' })).id,
      ]);
      return { value, seen: 'both sent', ms };
    });
    await step('Bob reconnects with his cursor', async () => {
      const { events, close } = await openEvents(bob, 'websocket', bobCursor);
      try {
        await events.first('the last message', hasId(missed[1] ?? ''));
      } finally {
        await close();
      }
      // A receipt of an earlier message can be among the events that he missed.
      const messages = events.list().filter(({ type }) => type === 'message.created');
      assert.deepEqual(messages.map(idOf), missed);
      return { seen: '2 events replayed, none missing or repeated' };
    });
    await sendTwice(conversation, thread_id);
  } finally {
    await Promise.allSettled([mia.close(), adaEvents.close(), bobEvents.close()]);
  }
}

/** Ada opens a thread, and the others receive it live. Returns its id. */
async function openThread({ ada, adaEvents, bobEvents, step }: Conversation, participants: string[]) {
  const { value: opened, started } = await step('Ada opens a thread over REST', async () => {
    const input = { participants, subject: 'Lunch', initial_message: 'Shall we meet at noon?' };
    const value = await measure(() => ada.threads.create(input));
    return { value, seen: `${value.value.id} with a first message`, ms: value.ms };
  });
  const isFirst = hasId(opened.initial_message_id ?? '');
  await step('Bob receives the thread on his WebSocket', async () => {
    await bobEvents.events.first('thread.created', hasId(opened.id));
    const { item, at } = await bobEvents.events.first('message.created', isFirst);
    const content = item.type === 'message.created' ? item.data.content : '';
    return { seen: `“${content}”, measured from the start of the request`, ms: at - started };
  });
  await step('Ada reads her own feed by long poll', async () => {
    const { at } = await adaEvents.events.first('message.created', isFirst);
    const types = adaEvents.events.list().map(({ type }) => type);
    assert.deepEqual(types.slice(0, 2), ['thread.created', 'message.created']);
    return { seen: `${types.join(', ')}, measured from the start of the request`, ms: at - started };
  });
  return opened.id;
}

/** Bob replies, and Mia reads and answers with tools. */
async function useTools({ bob, mia, bobEvents, step }: Conversation, thread_id: string): Promise<void> {
  const { value: reply, started } = await step('Bob replies over REST', async () => {
    const content = 'Noon is fine. Mia, will you join?';
    const value = await measure(() => bob.messages.send({ thread_id, content }));
    assert.equal(value.value.sequence, 2);
    return { value, seen: `${value.value.id}, sequence 2`, ms: value.ms };
  });
  await step('Mia receives a notification over SSE', async () => {
    const { item, at } = await mia.notifications.first('the notification', ({ method, params }) => {
      return method === 'notifications/service/message_created' && params?.['id'] === reply.id;
    });
    return { seen: `${item.method}, measured from the start of the request`, ms: at - started };
  });
  await step('Mia lists her threads with a tool', async () => {
    const { threads } = await mia.call<{ threads: { id: string }[] }>('list_threads', {});
    assert.deepEqual(
      threads.map(({ id }) => id),
      [thread_id],
    );
    return { seen: '1 thread' };
  });
  await step('Mia reads the thread with a tool', async () => {
    const { messages } = await mia.call<{ messages: { id: string; content: string }[] }>('get_thread', {
      thread_id,
    });
    assert.equal(messages.length, 2);
    assert.equal(messages[1]?.id, reply.id);
    return { seen: messages.map(({ content }) => `“${content}”`).join(' ') };
  });
  await step('Mia sends a message with a tool', async () => {
    const input = { thread_id, content: 'Gladly!', idempotency_key: randomUUID() };
    const sent = await mia.call<{ id: string; sequence: number }>('send_message', input);
    assert.equal(sent.sequence, 3);
    await bobEvents.events.first('the event', hasId(sent.id));
    return { seen: `${sent.id}, received by Bob` };
  });
}

async function sendTwice({ ada, step }: Conversation, thread_id: string): Promise<void> {
  const input = { thread_id, content: 'See you there.' };
  const options = { idempotencyKey: randomUUID() };
  const first = await step('Ada sends with an idempotency key', async () => {
    const { value, ms } = await measure(() => ada.messages.send(input, options));
    return { value, seen: value.id, ms };
  });
  await step('Ada sends it again with the same key', async () => {
    const { value, ms } = await measure(() => ada.messages.send(input, options));
    assert.deepEqual(value, first);
    const { messages } = await ada.messages.list({ thread_id }).page();
    assert.equal(messages.length, 6);
    assert.equal(messages.filter(({ content }) => content === input.content).length, 1);
    return { seen: 'same answer; 6 messages in the thread, this one once', ms };
  });
}
