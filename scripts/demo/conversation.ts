import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ReceivedItem } from './inbox.ts';
import { type Frame, type LiveSocket, openSocket } from './live-socket.ts';
import type { DemoAgents } from './create-agents.ts';
import { eventPage, message, messagePage, createRestClient, type RestClient, thread } from './rest.ts';
import { check, type Steps } from './steps.ts';
import { connectTools, type ToolClient, type ToolNotification } from './tool-client.ts';

const threadList = z.looseObject({ threads: z.array(thread) });
const readThread = z.looseObject({ thread, messages: z.array(message) });
const createdThread = thread.extend({ initial_message_id: z.string() });

const hasId = (id: string) => (frame: Frame) => frame.data?.id === id;
const isNotification = (method: string, id: string) => (notification: ToolNotification) =>
  notification.method === `notifications/service/${method}` && notification.params.id === id;
const liveResult = ({ receivedAt }: ReceivedItem<unknown>, started: number, seen: string) => ({
  value: undefined,
  seen: `${seen}, measured from the start of the request`,
  ms: receivedAt - started,
});

interface Conversation {
  base: string;
  agents: DemoAgents;
  ada: RestClient;
  bob: RestClient;
  socket: LiveSocket;
  mia: ToolClient;
  step: Steps['step'];
}

/** A thread and the ids of its messages. */
interface ThreadIds {
  threadId: string;
  path: string;
  messageIds: string[];
}

/** Runs the conversation of Ada (REST), Bob (REST and WebSocket) and Mia (an MCP client) over every transport. */
export async function runConversation(base: string, agents: DemoAgents, { step }: Steps): Promise<void> {
  const ada = createRestClient(base, agents.ada.token);
  const bob = createRestClient(base, agents.bob.token);
  const startCursor = (await ada.get('/events', eventPage)).value.cursor;
  const socket = await connectBob(base, agents.bob.token, step);
  const mia = await connectMia(base, agents.mia.token, step);
  const conversation: Conversation = { base, agents, ada, bob, socket, mia, step };

  try {
    const opened = await openThread(conversation, startCursor);
    const replied = await reply(conversation, opened);
    await useTools(conversation, replied);
    await disconnectAndResume(conversation, opened.path);
    await sendTwice(conversation, opened.path);
  } finally {
    await Promise.allSettled([mia.close(), socket.close()]);
  }
}

function connectBob(base: string, token: string, step: Steps['step']): Promise<LiveSocket> {
  return step('Bob opens a WebSocket', 'a ready frame with a cursor', async () => {
    const opened = await openSocket(base, token);
    return { value: opened, seen: `ready, cursor ${shorten(opened.ready.cursor)}` };
  });
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
  { agents, ada, socket, step }: Conversation,
  startCursor: string,
): Promise<ThreadIds> {
  const { value, started } = await step('Ada opens a thread over REST', '201 with the thread', async () => {
    const participants = [agents.bob.handle, agents.mia.handle];
    const body = { participants, subject: 'Lunch', initial_message: 'Shall we meet at noon?' };
    const answer = await ada.post('/threads', body, createdThread);
    return { value: answer, seen: `${answer.value.id} with a first message`, ms: answer.ms };
  });
  const { id: threadId, initial_message_id } = value;
  await step(
    'Bob receives the thread on his WebSocket',
    'the frames thread.created and message.created',
    async () => {
      await socket.inbox.first('thread.created', hasId(threadId));
      const arrival = await socket.inbox.first('message.created', hasId(initial_message_id));
      return liveResult(arrival, started, `“${arrival.item.data?.content ?? ''}”`);
    },
  );
  await step(
    'Ada reads her own feed by long poll',
    'thread.created and message.created, in order',
    async () => {
      const { value: page, ms } = await ada.get(`/events?wait=5&cursor=${startCursor}`, eventPage);
      const types = page.events.map(({ type }) => type).join(', ');
      check(types === 'thread.created, message.created', `the events were ${types || 'none'}`);
      return { value: undefined, seen: types, ms };
    },
  );
  return { threadId, path: `/threads/${threadId}/messages`, messageIds: [initial_message_id] };
}

/** Returns the thread with the id of the reply. */
async function reply({ bob, mia, step }: Conversation, opened: ThreadIds): Promise<ThreadIds> {
  const { value, started } = await step('Bob replies over REST', '201 with sequence 2', async () => {
    const answer = await bob.post(opened.path, { content: 'Noon is fine. Mia, will you join?' }, message);
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

async function useTools({ mia, socket, step }: Conversation, { threadId, messageIds }: ThreadIds) {
  await step('Mia lists her threads with a tool', 'only this thread', async () => {
    const { threads } = await mia.call('list_threads', {}, threadList);
    check(threads.length === 1 && threads[0]?.id === threadId, `the tool returned ${threads.length} threads`);
    return { value: undefined, seen: '1 thread' };
  });
  await step('Mia reads the thread with a tool', 'both messages, in order', async () => {
    const { messages } = await mia.call('get_thread', { thread_id: threadId }, readThread);
    const ids = messages.map(({ id }) => id);
    check(ids.join() === messageIds.join(), `the messages were ${ids.join()}`);
    return { value: undefined, seen: messages.map(({ content }) => `“${content}”`).join(' ') };
  });
  await step('Mia sends a message with a tool', 'sequence 3, and a frame on Bob’s WebSocket', async () => {
    const input = { thread_id: threadId, content: 'Gladly!', idempotency_key: randomUUID() };
    const sent = await mia.call('send_message', input, message);
    check(sent.sequence === 3, `the sequence was ${sent.sequence}`);
    await socket.inbox.first('the frame', hasId(sent.id));
    return { value: undefined, seen: `${sent.id}, received by Bob` };
  });
}

async function disconnectAndResume({ base, agents, ada, socket, step }: Conversation, path: string) {
  const missed = await step('Bob disconnects; Ada sends two messages', '201 for both', async () => {
    await socket.close();
    const first = await ada.post(path, { content: 'The place by the river.' }, message);
    const second = await ada.post(path, { content: 'I have a table.' }, message);
    return { value: [first.value.id, second.value.id], seen: 'both sent', ms: first.ms + second.ms };
  });
  await step('Bob reconnects with his cursor', 'only the two messages that he missed, in order', async () => {
    const again = await openSocket(base, agents.bob.token, socket.cursor());
    try {
      check(again.ready.resumed && !again.ready.gap, `the ready frame was ${JSON.stringify(again.ready)}`);
      await again.inbox.first('the last message', hasId(missed[1] ?? ''));
      const frames = again.inbox.arrivals.map(({ item }) => item).filter(({ type }) => type !== 'ready');
      const ids = frames.map(({ data }) => data?.id);
      check(ids.join() === missed.join(), `the frames were for ${ids.join()}`);
      return { value: undefined, seen: '2 frames replayed, none missing or repeated' };
    } finally {
      await again.close();
    }
  });
}

async function sendTwice({ ada, step }: Conversation, path: string) {
  const key = randomUUID();
  const body = { content: 'See you there.' };
  const first = await step('Ada sends with an Idempotency-Key', '201', async () => {
    const answer = await ada.post(path, body, message, key);
    return { value: answer, seen: answer.value.id, ms: answer.ms };
  });
  await step(
    'Ada retries the same request',
    'the same response, marked as replayed, and one message',
    async () => {
      const again = await ada.post(path, body, message, key);
      check(again.text === first.text, 'the responses differ');
      check(
        again.headers.get('idempotency-replayed') === 'true',
        'the header Idempotency-Replayed is missing',
      );
      const { messages } = (await ada.get(path, messagePage)).value;
      const copies = messages.filter(({ content }) => content === body.content).length;
      check(copies === 1, `the thread has ${copies} copies of the message`);
      check(messages.length === 6, `expected 6 messages in the thread, found ${messages.length}`);
      return {
        value: undefined,
        seen: 'same response; 6 messages in the thread, this one once',
        ms: again.ms,
      };
    },
  );
}

function shorten(text: string): string {
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}
