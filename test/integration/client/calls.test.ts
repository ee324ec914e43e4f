import { expect, test } from 'vitest';
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  createClient,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ValidationError,
} from '../../../packages/client/src/main.ts';
import { useSharedService } from '../../support/service.ts';
import { clientOf, range, sendNumbers, startConversation } from './setup.ts';

const service = useSharedService();

test('the methods of every noun call the service and return its records', async () => {
  const { ada, bob, asAda, asBob, thread_id } = await startConversation(service);
  expect(await asAda.agents.getMe()).toMatchObject({ id: ada.id, canonical_handle: ada.handle });
  const message = await asAda.messages.send({ thread_id, content: 'Hello', metadata: { order: 7 } });
  expect(message).toMatchObject({ sender: { id: ada.id }, sequence: 1, metadata: { order: 7 } });
  expect(await asBob.threads.get({ thread_id })).toMatchObject({ unread_count: 1 });
  expect(await asBob.threads.markRead({ thread_id, up_to_sequence: 1 })).toBeUndefined();
  expect(await asBob.threads.update({ thread_id, status: 'closed' })).toMatchObject({ status: 'closed' });
  expect(await asBob.contacts.request({ handle: ada.handle })).toMatchObject({ from: { id: bob.id } });
  await asAda.contacts.approveRequest({ request_ref: bob.handle });
  expect(await asAda.contacts.addFavorite({ agent_ref: bob.handle })).toBeUndefined();
  expect(await asAda.agents.get({ agent_ref: bob.id })).toMatchObject({ canonical_handle: bob.handle });
});

test('a list returns its items over all pages, its pages, or its first page', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  await sendNumbers(asAda, thread_id, 1, 7);
  const list = asBob.messages.list({ thread_id, order: 'asc', limit: 3 });
  const contents: string[] = [];
  for await (const { content } of list) contents.push(content);
  expect(contents).toEqual(range(1, 7).map(String));
  const sizes: number[] = [];
  for await (const { messages } of list.pages()) sizes.push(messages.length);
  expect(sizes).toEqual([3, 3, 1]);
  expect((await list.page()).messages).toHaveLength(3);
  const none = asBob.threads.list({ status: 'archived', unread: false });
  expect(await none.page()).toEqual({ threads: [] });
});

test('a refusal is an error of its kind, with the message of the service', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  const refusals = [
    [() => asAda.threads.get({ thread_id: 'thd_0' }), NotFoundError, 'THREAD_NOT_FOUND', 404],
    [() => asAda.threads.create({ with_handle: '???' }), ValidationError, 'INVALID_HANDLE', 400],
    [() => asAda.webhooks.create({ url: 'https://example.com' }), PermissionError, 'INSUFFICIENT_SCOPE', 403],
    [() => clientOf(service, { token: 'wrong' }).agents.getMe(), AuthenticationError, 'UNAUTHORIZED', 401],
  ] as const;
  for (const [call, kind, code, status] of refusals) {
    const error = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ code, status, request_id: expect.stringMatching(/./), name: kind.name });
  }
  await asAda.threads.update({ thread_id, status: 'closed' });
  await asBob.threads.update({ thread_id, status: 'archived' });
  const again = asBob.threads.update({ thread_id, status: 'closed' });
  await expect(again).rejects.toBeInstanceOf(ConflictError);
  await expect(asAda.threads.update({ thread_id, subject: 'x'.repeat(201) })).rejects.toMatchObject({
    details: [{ field: 'subject' }],
  });
  expect(() => asAda.threads.get({ thread_id: '' })).toThrow('thread_id is missing');
});

test('a write whose answer was lost is repeated with the same key, and happens once', async () => {
  const { ada, asBob, thread_id } = await startConversation(service);
  const keys: (string | null)[] = [];
  const asAda = clientOf(service, ada, {
    async fetch(url, init) {
      const response = await fetch(url, init);
      keys.push(new Headers(init.headers).get('Idempotency-Key'));
      if (keys.length <= 2) throw new TypeError('the answer was lost');
      return response;
    },
  });
  expect(await asAda.messages.send({ thread_id, content: 'once' })).toMatchObject({ sequence: 1 });
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect((await asBob.messages.list({ thread_id }).page()).messages).toHaveLength(1);
});

test('a call without a key is not repeated when its result is unknown', async () => {
  const { ada, bob } = await startConversation(service);
  let attempts = 0;
  const asAda = clientOf(service, ada, {
    async fetch() {
      attempts += 1;
      throw new TypeError('the answer was lost');
    },
  });
  const call = asAda.contacts.remove({ agent_ref: bob.handle });
  await expect(call).rejects.toMatchObject({ name: 'ConnectionError', code: 'CONNECTION_FAILED' });
  expect(attempts).toBe(1);
  await expect(asAda.agents.getMe()).rejects.toBeInstanceOf(ConnectionError);
  expect(attempts).toBe(4);
});

test('a short Retry-After is obeyed, and a long one is an error for the caller', async () => {
  const agent = await service.agent();
  const answers = [
    { status: 503, seconds: '1' },
    { status: 429, seconds: '3600' },
  ];
  const times: number[] = [];
  const client = clientOf(service, agent, {
    async fetch(url, init) {
      times.push(Date.now());
      const answer = answers.shift();
      if (!answer) return fetch(url, init);
      const error = { code: answer.status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE', message: 'later' };
      return Response.json({ error }, { status: answer.status, headers: { 'Retry-After': answer.seconds } });
    },
  });
  const call = client.agents.getMe();
  await expect(call).rejects.toBeInstanceOf(RateLimitError);
  await expect(call).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
  expect(times).toHaveLength(2);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
});

test('a refused upload of a stream is not repeated without its beginning, and the next one has another token', async () => {
  const agent = await service.agent();
  async function* source() {
    for (const text of ['one', 'two', 'three']) yield new TextEncoder().encode(text);
  }
  for (const status of [401, 429, 503]) {
    let token = status === 401 ? 'ended' : agent.token;
    let requests = 0;
    const client = createClient({
      url: service.url,
      auth(refused) {
        if (refused !== undefined) ({ token } = agent);
        return token;
      },
      async fetch(url, init) {
        requests += 1;
        if (requests > 1) return fetch(url, init);
        const reader = (init.body as ReadableStream<Uint8Array>).getReader();
        await reader.read(); // the fields before the file
        await reader.read();
        return Response.json({ error: { code: 'REFUSED', message: 'Not now.' } }, { status });
      },
    });
    await expect(client.attachments.upload(source())).rejects.toMatchObject({ code: 'REFUSED', status });
    expect(await client.attachments.upload(source())).toMatchObject({ size_bytes: 11 });
    expect(requests).toBe(2);
  }
});

test('a refusal that lasts longer than the call may take is the error, in place of a timeout', async () => {
  const client = clientOf(service, await service.agent(), {
    timeoutMs: 20_000,
    fetch: () => {
      const error = { code: 'RATE_LIMITED', message: 'later' };
      return Promise.resolve(Response.json({ error }, { status: 429, headers: { 'Retry-After': '30' } }));
    },
  });
  const call = client.agents.getMe();
  await expect(call).rejects.toBeInstanceOf(RateLimitError);
  await expect(call).rejects.toMatchObject({ retryAfterMs: 30_000 });
});

test('a signal and a timeout end a call and its retries', async () => {
  const agent = await service.agent();
  const client = clientOf(service, agent, {
    fetch: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  });
  const timeout = client.agents.getMe({ timeoutMs: 50 });
  await expect(timeout).rejects.toMatchObject({ name: 'ConnectionError', code: 'TIMEOUT' });
  const stop = new AbortController();
  const stopped = client.agents.getMe({ signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(stopped).rejects.toThrow('enough');
});

test('an answer that is not from the service is a clear error', async () => {
  const agent = await service.agent();
  const client = clientOf(service, agent, {
    fetch: async () => new Response('<h1>Not found</h1>', { status: 404 }),
  });
  await expect(client.agents.getMe()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 404 });
});
