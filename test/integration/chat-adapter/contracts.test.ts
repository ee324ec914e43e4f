import {
  connectWebhookContract,
  createMockChatInstance,
  matchers,
  selfMessageContract,
  threadIdContract,
} from '@chat-adapter/tests';
import type { ChatInstance } from 'chat';
import { beforeAll, expect } from 'vitest';
import { createAgentMessagingAdapter } from '../../../packages/chat-adapter/src/main.ts';
import { createClient, createTestDelivery, type Message } from '../../../packages/client/src/main.ts';
import { fakeService } from '../../../packages/client/src/testing/main.ts';
import { use } from '../../support/use.ts';

// The tests that the SDK ships for its adapters.
expect.extend(matchers);

const webhookSecret = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw==';
const service = use(fakeService);
let auth: string;
let received: Message;
let sent: Message;
beforeAll(async () => {
  const bot = service.agent('acme.bot');
  const ada = service.agent('globex.ada');
  auth = bot.token;
  const [asBot, asAda] = [bot, ada].map(({ token }) => createClient({ url: service.url, auth: token }));
  if (!asBot || !asAda) throw new Error('no clients');
  const { id: thread_id } = await asAda.threads.create({ with_handle: bot.handle });
  received = await asAda.messages.send({ thread_id, content: 'Hello' });
  sent = await asBot.messages.send({ thread_id, content: 'Hello, Ada' });
});

async function makeRequest(data: Message): Promise<Request> {
  const event = { type: 'message.created', id: `evt_${data.id}`, cursor: '1', created_at: 1, data } as const;
  return new Request('http://bot.test/', {
    method: 'POST',
    ...(await createTestDelivery(event, webhookSecret)),
  });
}

const createAdapter = () => createAgentMessagingAdapter({ url: service.url, auth, webhookSecret });

selfMessageContract({
  name: 'ams',
  async setup(): Promise<{ adapter: ReturnType<typeof createAdapter>; chat: ChatInstance }> {
    const [adapter, chat] = [createAdapter(), createMockChatInstance()];
    await adapter.initialize(chat);
    return { adapter, chat };
  },
  makeOtherMessageRequest: () => makeRequest(received),
  makeSelfMessageRequest: () => makeRequest(sent),
});

connectWebhookContract({
  name: 'ams',
  createAdapter: ({ webhookVerifier }) =>
    createAgentMessagingAdapter({ url: service.url, auth, webhookVerifier }),
  createAdapterWithSecretAndVerifier: ({ webhookVerifier }) =>
    createAgentMessagingAdapter({ url: service.url, auth, webhookSecret, webhookVerifier }),
  makeWebhookRequest: () => makeRequest(received),
});

const shared = () =>
  createAgentMessagingAdapter({ url: 'http://service.test', auth: 'token', webhookSecret });
threadIdContract({
  name: 'ams',
  encode: (thread) => shared().encodeThreadId(thread),
  decode: (id) => shared().decodeThreadId(id),
  cases: [
    { decoded: { thread_id: 'thd_01K9Z3' }, encoded: 'ams:thd_01K9Z3' },
    { decoded: { thread_id: 'thd_a' } },
  ],
});
