import { AuthenticationError, ResourceNotFoundError, ValidationError } from '@chat-adapter/shared';
import { Card, CardText, NotImplementedError } from 'chat';
import { expect, test } from 'vitest';
import { createAgentMessagingAdapter } from '../../../packages/chat-adapter/src/main.ts';
import { createTestDelivery } from '../../../packages/client/src/main.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { buildAgent } from '../../support/service.ts';
import { startBot } from '../../integration/chat-adapter/setup.ts';
import { use } from '../../support/use.ts';
const waitFor = <T>(read: () => T) => expect.poll(read);

const service = use(() => startServiceOnFixedPort({ WEBHOOK_NETWORKS: '127.0.0.0/8' }));

test('two bots talk with each other, and mark messages as read', async () => {
  const [counter, doubler] = await Promise.all([startBot(service), startBot(service)]);
  doubler.chat.onDirectMessage(async (thread, message) => {
    await thread.markAsRead(message);
    await thread.post(String(2 * Number(message.text)));
  });
  const answers: string[] = [];
  counter.chat.onDirectMessage(async (thread, message) => {
    answers.push(message.text);
    if (answers.length < 5) await thread.post(message.text);
  });
  const threadId = await counter.adapter.openDM(doubler.agent.handle);
  await counter.adapter.postMessage(threadId, '1');
  await waitFor(() => answers).toEqual(['2', '4', '8', '16', '32']);
  const { messages } = await counter.adapter.fetchMessages(threadId, { direction: 'forward' });
  const texts = ['1', '2', '2', '4', '4', '8', '8', '16', '16', '32'];
  expect(messages.map(({ text }) => text)).toEqual(texts);
  expect(messages.map(({ author }) => author.isMe)).toEqual(texts.map((_, index) => index % 2 === 0));
  expect(messages[1]?.author).toMatchObject({ userId: doubler.agent.id, userName: doubler.agent.handle });
  const { thread_id } = counter.adapter.decodeThreadId(threadId);
  const countUnread = async ({ client }: typeof counter) =>
    (await client.threads.get({ thread_id })).unread_count;
  expect(await countUnread(doubler)).toBe(0);
  expect(await countUnread(counter)).toBeGreaterThan(0);
  // By the id alone.
  await counter.adapter.markAsRead(threadId, messages[9]?.id ?? '');
  expect(await countUnread(counter)).toBe(0);
  // The direct thread is found again.
  expect(await doubler.adapter.openDM(counter.agent.id)).toBe(threadId);
  expect(await doubler.adapter.fetchThread(threadId)).toMatchObject({ id: threadId, isDM: true });
});

test('in a group, a bot answers when it is mentioned', async () => {
  const [bot, ada, bob] = await Promise.all([startBot(service), startBot(service), startBot(service)]);
  const mentions: string[] = [];
  bot.chat.onNewMention(async (_thread, message) => void mentions.push(message.text));
  const participants = [bot.agent.handle, bob.agent.handle];
  const { id: thread_id } = await ada.client.threads.create({ participants, subject: 'Plans' });
  await ada.client.messages.send({ thread_id, content: 'Hello, both' });
  await waitFor(() => bot.statuses).toEqual([200]);
  const content = `**Please** look, @${bot.agent.handle}`;
  await bob.client.messages.send({ thread_id, content, content_type: 'markdown' });
  await waitFor(() => mentions).toEqual([`Please look, @${bot.agent.handle}`]);
  const info = await bot.adapter.fetchThread(`ams:${thread_id}`);
  expect(info).toMatchObject({ channelId: `ams:${thread_id}`, channelName: 'Plans', isDM: false });
});

test('pages lead backward and forward through a thread', async () => {
  const [ada, bob] = await Promise.all([startBot(service), startBot(service)]);
  const threadId = await ada.adapter.openDM(bob.agent.handle);
  for (let number = 1; number <= 5; number += 1) await ada.adapter.postMessage(threadId, String(number));
  for (const [direction, expected] of [
    ['backward', ['4 5', '2 3', '1']],
    ['forward', ['1 2', '3 4', '5']],
  ] as const) {
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const options = { direction, limit: 2, ...(cursor !== undefined && { cursor }) };
      const page = await bob.adapter.fetchMessages(threadId, options);
      pages.push(page.messages.map(({ text }) => text).join(' '));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(pages).toEqual(expected);
  }
  await expect(bob.adapter.fetchMessages(threadId, { cursor: 'wrong' })).rejects.toThrow(ValidationError);
});

test('files, cards, streams and replies arrive', async () => {
  const [ada, bob] = await Promise.all([startBot(service), startBot(service)]);
  const threadId = await ada.adapter.openDM(bob.agent.handle);
  const thread = ada.chat.thread(threadId);
  const data = Buffer.from('order;price\n1042;7\n');
  const first = await thread.post({
    markdown: 'The *list*',
    files: [{ data, filename: 'orders.csv', mimeType: 'text/csv' }],
  });
  await thread.post(Card({ title: 'Order 1042', children: [CardText('Ready')] }));
  const stream = async function* () {
    yield 'one ';
    yield 'two';
  };
  await thread.post(stream());
  await ada.adapter.reply(threadId, first.id, 'See above');
  const { messages } = await bob.adapter.fetchMessages(threadId);
  expect(messages.map(({ text }) => text.replaceAll('\n', ' '))).toEqual([
    'The list',
    expect.stringContaining('Order 1042'),
    'one two',
    'See above',
  ]);
  expect(messages[3]?.raw.reply_to).toBe(first.id);
  const attachment = messages[0]?.attachments[0];
  expect(attachment).toMatchObject({ type: 'file', name: 'orders.csv', mimeType: 'text/csv', size: 19 });
  const stored = JSON.parse(JSON.stringify(attachment));
  const restored = bob.adapter.rehydrateAttachment?.(stored);
  expect(new TextDecoder().decode(await restored?.fetchData?.())).toBe(data.toString());
});

test('unsupported and refused calls fail with the errors of the SDK', async () => {
  const bot = await startBot(service);
  const { adapter } = bot;
  const stranger = await buildAgent(service.core);
  const threadId = await adapter.openDM(stranger.handle);
  const { id } = await adapter.postMessage(threadId, 'Hello');
  await expect(adapter.editMessage(threadId, id, 'Changed')).rejects.toThrow(NotImplementedError);
  await expect(adapter.deleteMessage(threadId, id)).rejects.toThrow(NotImplementedError);
  await expect(adapter.addReaction(threadId, id, 'heart')).rejects.toThrow(NotImplementedError);
  await expect(adapter.removeReaction(threadId, id, 'heart')).rejects.toThrow(NotImplementedError);
  await expect(bot.chat.thread(threadId).schedule('Later', { postAt: new Date() })).rejects.toThrow(
    NotImplementedError,
  );
  await adapter.startTyping(threadId);
  await expect(adapter.postMessage('ams:thd_unknown', 'Hello')).rejects.toThrow(ResourceNotFoundError);
  await expect(adapter.postMessage('slack:C1:1', 'Hello')).rejects.toThrow(ValidationError);
  await expect(adapter.postMessage(threadId, '')).rejects.toThrow(ValidationError);
  await expect(adapter.markAsRead(threadId, 'msg_unknown')).rejects.toThrow(ResourceNotFoundError);
  expect(await adapter.getUser('no.body')).toBeNull();
  expect(await adapter.getUser(stranger.id)).toMatchObject({ userName: stranger.handle });
  const refused = createAgentMessagingAdapter({
    url: service.url,
    auth: 'wrong',
    webhookSecret: bot.secret,
  });
  await expect(refused.getUser(stranger.id)).rejects.toThrow(AuthenticationError);
  expect(() => createAgentMessagingAdapter({ url: service.url, auth: 'token' })).toThrow(ValidationError);
});

test('a delivery is handled once; one that fails is requested again', async () => {
  const [bot, other] = await Promise.all([startBot(service), startBot(service)]);
  const texts: string[] = [];
  bot.chat.onDirectMessage(async (_thread, { text }) => void texts.push(text));
  const threadId = await other.adapter.openDM(bot.agent.handle);
  const { raw } = await other.adapter.postMessage(threadId, 'Once');
  await waitFor(() => texts).toEqual(['Once']);
  const event = { type: 'message.created', id: 'evt_1', cursor: '1', created_at: 1, data: raw } as const;
  const deliver = async (data: object, adapter = bot.chat.webhooks.ams) => {
    const delivery = await createTestDelivery({ ...event, data } as typeof event, bot.secret);
    return (await adapter(new Request('http://bot.test/', { method: 'POST', ...delivery }))).status;
  };
  expect(await deliver(raw)).toBe(200);
  // A thread that the bot has left, and a service that is not there.
  expect(await deliver({ ...raw, id: 'msg_2', thread_id: 'thd_left' })).toBe(200);
  const lost = createAgentMessagingAdapter({
    url: 'http://127.0.0.1:9',
    auth: 'token',
    webhookSecret: bot.secret,
  });
  expect(await deliver(raw, (request) => lost.handleWebhook(request))).toBe(503);
  expect(
    await deliver(raw, (request) => lost.handleWebhook(new Request(request, { method: 'POST', body: '{}' }))),
  ).toBe(401);
  expect(texts).toEqual(['Once']);
});
