import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ReceivedItem } from './inbox.ts';
import { type Frame, openSocket } from './live-socket.ts';
import type { DemoAgents } from './create-agents.ts';
import { eventPage, message, messagePage, createRestClient, thread } from './rest.ts';
import { check, type Steps } from './steps.ts';
import { connectTools, type ToolNotification } from './tool-client.ts';

const threadList = z.looseObject({ threads: z.array(thread) });
const readThread = z.looseObject({ thread, messages: z.array(message) });
const createdThread = thread.extend({ initial_message_id: z.string() });

const describeId = (id: string) => (frame: Frame) => frame.data?.id === id;
const describeNotification = (method: string, id: string) => (notification: ToolNotification) =>
  notification.method === `notifications/service/${method}` && notification.params.id === id;
const liveResult = ({ receivedAt }: ReceivedItem<unknown>, started: number, seen: string) => ({
  value: undefined,
  seen: `${seen}, measured from the start of the request`,
  ms: receivedAt - started,
});

/** The conversation of Ada (REST), Bob (REST and WebSocket) and Mia (an MCP client), step by step, over every transport. */
export async function runConversation(base: string, agents: DemoAgents, { step }: Steps): Promise<void> {
  const ada = createRestClient(base, agents.ada.token);
  const bob = createRestClient(base, agents.bob.token);
  const adasPosition = (await ada.get('/events', eventPage)).value.cursor;

  const socket = await step('Bob opens a WebSocket', 'a ready frame with a cursor', async () => {
    const opened = await openSocket(base, agents.bob.token);
    return { value: opened, seen: `ready, cursor ${shorten(opened.ready.cursor)}` };
  });
  const mia = await step(
    'Mia connects as an MCP client',
    'tools, and an open stream of notifications',
    async () => {
      const client = await connectTools(base, agents.mia.token);
      const missing = ['list_threads', 'get_thread', 'send_message'].filter(
        (name) => !client.tools.includes(name),
      );
      check(missing.length === 0, `tools are missing: ${missing.join(', ')}`);
      return { value: client, seen: `${client.tools.length} tools, stream open` };
    },
  );

  try {
    const opening = await step('Ada opens a thread over REST', '201 with the thread', async () => {
      const participants = [agents.bob.handle, agents.mia.handle];
      const body = { participants, subject: 'Lunch', initial_message: 'Shall we meet at noon?' };
      const answer = await ada.post('/threads', body, createdThread);
      return { value: answer, seen: `${answer.value.id} with a first message`, ms: answer.ms };
    });
    const { id: threadId, initial_message_id } = opening.value;
    const path = `/threads/${threadId}/messages`;
    await step(
      'Bob sees it live on his WebSocket',
      'the frames thread.created and message.created',
      async () => {
        await socket.inbox.first('thread.created', describeId(threadId));
        const arrival = await socket.inbox.first('message.created', describeId(initial_message_id));
        return liveResult(arrival, opening.started, `“${arrival.item.data?.content ?? ''}”`);
      },
    );

    await step(
      'Ada reads her own feed by long poll',
      'thread.created and message.created, in order',
      async () => {
        const { value, ms } = await ada.get(`/events?wait=5&cursor=${adasPosition}`, eventPage);
        const types = value.events.map(({ type }) => type).join(', ');
        check(types === 'thread.created, message.created', `the events were ${types || 'none'}`);
        return { value: undefined, seen: types, ms };
      },
    );

    const reply = await step('Bob replies over REST', '201 with sequence 2', async () => {
      const answer = await bob.post(path, { content: 'Noon is fine. Mia, will you join?' }, message);
      check(answer.value.sequence === 2, `the sequence was ${answer.value.sequence}`);
      return { value: answer, seen: `${answer.value.id}, sequence 2`, ms: answer.ms };
    });
    await step('Mia is notified over SSE', 'notifications/service/message_created', async () => {
      const fits = describeNotification('message_created', reply.value.id);
      const arrival = await mia.inbox.first('the notification', fits);
      return liveResult(arrival, reply.started, arrival.item.method);
    });
    await step('Mia lists her threads by tool', 'the thread, and no other', async () => {
      const { threads } = await mia.call('list_threads', {}, threadList);
      check(threads.length === 1 && threads[0]?.id === threadId, `${threads.length} threads came back`);
      return { value: undefined, seen: '1 thread' };
    });
    await step('Mia reads the thread by tool', 'both messages, in order', async () => {
      const { messages } = await mia.call('get_thread', { thread_id: threadId }, readThread);
      const ids = messages.map(({ id }) => id);
      check(ids.join() === [initial_message_id, reply.value.id].join(), `the messages were ${ids.join()}`);
      return { value: undefined, seen: messages.map(({ content }) => `“${content}”`).join(' ') };
    });
    await step('Mia sends a message by tool', 'sequence 3, and its frame at Bob’s WebSocket', async () => {
      const input = { thread_id: threadId, content: 'Gladly!', idempotency_key: randomUUID() };
      const sent = await mia.call('send_message', input, message);
      check(sent.sequence === 3, `the sequence was ${sent.sequence}`);
      await socket.inbox.first('the frame', describeId(sent.id));
      return { value: undefined, seen: `${sent.id}, seen by Bob` };
    });

    await disconnectAndResume({ path, ada, socket, token: agents.bob.token, base }, step);
    await sendTwice({ path, ada }, step);
  } finally {
    await Promise.allSettled([mia.close(), socket.close()]);
  }
}

interface ResumeOptions {
  path: string;
  base: string;
  token: string;
  ada: ReturnType<typeof createRestClient>;
  socket: Awaited<ReturnType<typeof openSocket>>;
}

async function disconnectAndResume({ path, base, token, ada, socket }: ResumeOptions, step: Steps['step']) {
  const missed = await step('Bob goes offline; Ada sends two messages', 'two answers of 201', async () => {
    await socket.close();
    const first = await ada.post(path, { content: 'The place by the river.' }, message);
    const second = await ada.post(path, { content: 'I have a table.' }, message);
    return { value: [first.value.id, second.value.id], seen: 'both sent', ms: first.ms + second.ms };
  });
  await step(
    'Bob reconnects with his cursor',
    'exactly what he missed: these two messages, in order',
    async () => {
      const again = await openSocket(base, token, socket.cursor());
      try {
        check(again.ready.resumed && !again.ready.gap, `ready said ${JSON.stringify(again.ready)}`);
        await again.inbox.first('the last message', describeId(missed[1] ?? ''));
        const frames = again.inbox.arrivals.map(({ item }) => item).filter(({ type }) => type !== 'ready');
        const ids = frames.map(({ data }) => data?.id);
        check(ids.join() === missed.join(), `the frames were about ${ids.join()}`);
        return { value: undefined, seen: '2 frames replayed, no hole, no repetition' };
      } finally {
        await again.close();
      }
    },
  );
}

async function sendTwice({ path, ada }: Pick<ResumeOptions, 'path' | 'ada'>, step: Steps['step']) {
  const key = randomUUID();
  const body = { content: 'See you there.' };
  const first = await step('Ada sends with an Idempotency-Key', '201', async () => {
    const answer = await ada.post(path, body, message, key);
    return { value: answer, seen: answer.value.id, ms: answer.ms };
  });
  await step(
    'Ada retries the same request',
    'the same answer, marked as replayed, and one message',
    async () => {
      const again = await ada.post(path, body, message, key);
      check(again.text === first.text, 'the answers differ');
      check(
        again.headers.get('idempotency-replayed') === 'true',
        'the header Idempotency-Replayed is missing',
      );
      const { messages } = (await ada.get(path, messagePage)).value;
      const copies = messages.filter(({ content }) => content === body.content).length;
      check(copies === 1, `the thread holds ${copies} of them`);
      check(messages.length === 6, `the thread holds ${messages.length} messages instead of 6`);
      return { value: undefined, seen: 'same answer; 6 messages in the thread, this one once', ms: again.ms };
    },
  );
}

function shorten(text: string): string {
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}
