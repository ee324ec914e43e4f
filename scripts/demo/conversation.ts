import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import type { Client, CursorStore, FeedEvent } from '../../packages/client/src/main.ts';
import { createClient, memoryCursor } from '../../packages/client/src/node/main.ts';
import type { DemoAgents } from './create-agents.ts';
import type { ReceivedItem } from './inbox.ts';
import { type LiveEvents, openEvents } from './live-events.ts';
import { check, type Steps } from './steps.ts';
import { connectTools, type ToolClient, type ToolNotification } from './tool-client.ts';

const message = z.looseObject({ id: z.string(), content: z.string() });
const thread = z.looseObject({ id: z.string() });
const sentMessage = z.looseObject({ id: z.string(), sequence: z.int() });
const threadList = z.looseObject({ threads: z.array(thread) });
const readThread = z.looseObject({ thread, messages: z.array(message) });

const idOf = ({ data }: FeedEvent) => Reflect.get(Object(data), 'id') as unknown;
const hasId = (id: string) => (event: FeedEvent) => idOf(event) === id;
const isNotification = (method: string, id: string) => (notification: ToolNotification) =>
  notification.method === `notifications/service/${method}` && notification.params.id === id;
const liveResult = ({ receivedAt }: ReceivedItem<unknown>, started: number, seen: string) => ({
  value: undefined,
  seen: `${seen}, measured from the start of the request`,
  ms: receivedAt - started,
});

interface Conversation {
  ada: Client;
  bob: Client;
  mia: ToolClient;
  /** Events of Ada, by long poll. */
  adaEvents: LiveEvents;
  /** Events of Bob, over a WebSocket. */
  bobEvents: LiveEvents;
  bobCursor: CursorStore;
  step: Steps['step'];
}

/** A thread and the ids of its messages. */
interface ThreadIds {
  thread_id: string;
  messageIds: string[];
}

/** Runs the conversation of Ada (REST and long poll), Bob (REST and WebSocket) and Mia (an MCP client) over every transport. */
export async function runConversation(url: string, agents: DemoAgents, { step }: Steps): Promise<void> {
  const ada = createClient({ url, auth: agents.ada.token });
  const bob = createClient({ url, auth: agents.bob.token });
  const bobCursor = memoryCursor();
  const adaEvents = await openEvents(ada, 'poll', memoryCursor());
  const bobEvents = await step('Bob opens a WebSocket', 'an open connection', async () => ({
    value: await openEvents(bob, 'websocket', bobCursor),
    seen: 'open',
  }));
  const mia = await connectMia(url, agents.mia.token, step);
  const conversation: Conversation = { ada, bob, mia, adaEvents, bobEvents, bobCursor, step };

  try {
    const opened = await openThread(conversation, agents);
    const replied = await reply(conversation, opened);
    await useTools(conversation, replied);
    await disconnectAndResume(conversation, opened);
    await sendTwice(conversation, opened);
  } finally {
    await Promise.allSettled([mia.close(), adaEvents.close(), bobEvents.close()]);
  }
}

/** Runs a call; returns its answer, when it started, and how long it took, in milliseconds. */
async function measure<T>(call: () => Promise<T>) {
  const started = performance.now();
  const value = await call();
  return { value, started, ms: performance.now() - started };
}

function connectMia(base: string, token: string, step: Steps['step']): Promise<ToolClient> {
  return step('Mia connects as an MCP client', 'tools, and an open notification stream', async () => {
    const client = await connectTools(base, token);
    const missing = ['list_threads', 'get_thread', 'send_message'].filter(
      (name) => !client.tools.includes(name),
    );
    check(missing.length === 0, `tools are missing: ${missing.join(', ')}`);
    return { value: client, seen: `${client.tools.length} tools, stream open` };
  });
}

async function openThread(
  { ada, adaEvents, bobEvents, step }: Conversation,
  agents: DemoAgents,
): Promise<ThreadIds> {
  const { value, started } = await step('Ada opens a thread over REST', 'the thread', async () => {
    const participants = [agents.bob.handle, agents.mia.handle];
    const input = { participants, subject: 'Lunch', initial_message: 'Shall we meet at noon?' };
    const answer = await measure(() => ada.threads.create(input));
    return { value: answer, seen: `${answer.value.id} with a first message`, ms: answer.ms };
  });
  const { id: thread_id, initial_message_id = '' } = value;
  await step(
    'Bob receives the thread on his WebSocket',
    'the events thread.created and message.created',
    async () => {
      await bobEvents.inbox.first('thread.created', hasId(thread_id));
      const arrival = await bobEvents.inbox.first('message.created', hasId(initial_message_id));
      const content = arrival.item.type === 'message.created' ? arrival.item.data.content : '';
      return liveResult(arrival, started, `“${content}”`);
    },
  );
  await step(
    'Ada reads her own feed by long poll',
    'thread.created and message.created, in order',
    async () => {
      const arrival = await adaEvents.inbox.first('message.created', hasId(initial_message_id));
      const types = adaEvents.inbox.arrivals.slice(0, 2).map(({ item }) => item.type);
      check(types.join() === 'thread.created,message.created', `the events were ${types.join() || 'none'}`);
      return liveResult(arrival, started, types.join(', '));
    },
  );
  return { thread_id, messageIds: [initial_message_id] };
}

/** Returns the thread with the id of the reply. */
async function reply({ bob, mia, step }: Conversation, opened: ThreadIds): Promise<ThreadIds> {
  const { value, started } = await step('Bob replies over REST', 'sequence 2', async () => {
    const content = 'Noon is fine. Mia, will you join?';
    const answer = await measure(() => bob.messages.send({ thread_id: opened.thread_id, content }));
    check(answer.value.sequence === 2, `the sequence was ${answer.value.sequence}`);
    return { value: answer, seen: `${answer.value.id}, sequence 2`, ms: answer.ms };
  });
  await step('Mia receives a notification over SSE', 'notifications/service/message_created', async () => {
    const isReply = isNotification('message_created', value.id);
    const arrival = await mia.inbox.first('the notification', isReply);
    return liveResult(arrival, started, arrival.item.method);
  });
  return { ...opened, messageIds: [...opened.messageIds, value.id] };
}

async function useTools({ mia, bobEvents, step }: Conversation, { thread_id, messageIds }: ThreadIds) {
  await step('Mia lists her threads with a tool', 'only this thread', async () => {
    const { threads } = await mia.call('list_threads', {}, threadList);
    check(
      threads.length === 1 && threads[0]?.id === thread_id,
      `the tool returned ${threads.length} threads`,
    );
    return { value: undefined, seen: '1 thread' };
  });
  await step('Mia reads the thread with a tool', 'both messages, in order', async () => {
    const { messages } = await mia.call('get_thread', { thread_id }, readThread);
    const ids = messages.map(({ id }) => id);
    check(ids.join() === messageIds.join(), `the messages were ${ids.join()}`);
    return { value: undefined, seen: messages.map(({ content }) => `“${content}”`).join(' ') };
  });
  await step('Mia sends a message with a tool', 'sequence 3, and an event on Bob’s WebSocket', async () => {
    const input = { thread_id, content: 'Gladly!', idempotency_key: randomUUID() };
    const sent = await mia.call('send_message', input, sentMessage);
    check(sent.sequence === 3, `the sequence was ${sent.sequence}`);
    await bobEvents.inbox.first('the event', hasId(sent.id));
    return { value: undefined, seen: `${sent.id}, received by Bob` };
  });
}

async function disconnectAndResume(
  { ada, bob, bobEvents, bobCursor, step }: Conversation,
  { thread_id }: ThreadIds,
): Promise<void> {
  const missed = await step('Bob disconnects; Ada sends two messages', 'both messages', async () => {
    await bobEvents.close();
    const { value, ms } = await measure(async () => {
      const first = await ada.messages.send({ thread_id, content: 'The place by the river.' });
      const second = await ada.messages.send({ thread_id, content: 'I have a table.' });
      return [first.id, second.id];
    });
    return { value, seen: 'both sent', ms };
  });
  await step('Bob reconnects with his cursor', 'only the two messages that he missed, in order', async () => {
    const again = await openEvents(bob, 'websocket', bobCursor);
    try {
      await again.inbox.first('the last message', hasId(missed[1] ?? ''));
      // A receipt of an earlier message can be among the events that he missed.
      const events = again.inbox.arrivals.map(({ item }) => item);
      const ids = events.filter(({ type }) => type === 'message.created').map(idOf);
      check(ids.join() === missed.join(), `the events were for ${ids.join()}`);
      return { value: undefined, seen: '2 events replayed, none missing or repeated' };
    } finally {
      await again.close();
    }
  });
}

async function sendTwice({ ada, step }: Conversation, { thread_id }: ThreadIds): Promise<void> {
  const input = { thread_id, content: 'See you there.' };
  const options = { idempotencyKey: randomUUID() };
  const first = await step('Ada sends with an idempotency key', 'the message', async () => {
    const { value, ms } = await measure(() => ada.messages.send(input, options));
    return { value, seen: value.id, ms };
  });
  await step('Ada sends it again with the same key', 'the same answer, and one message', async () => {
    const { value, ms } = await measure(() => ada.messages.send(input, options));
    check(JSON.stringify(value) === JSON.stringify(first), 'the answers differ');
    const { messages } = await ada.messages.list({ thread_id }).page();
    const copies = messages.filter(({ content }) => content === input.content).length;
    check(copies === 1, `the thread has ${copies} copies of the message`);
    check(messages.length === 6, `expected 6 messages in the thread, found ${messages.length}`);
    return { value: undefined, seen: 'same answer; 6 messages in the thread, this one once', ms };
  });
}
