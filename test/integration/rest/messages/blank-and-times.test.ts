import { outcomeOf } from '../../../clients/rest.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();
let ann: TestAgent;
let bob: TestAgent;
let thread: string;
beforeAll(async () => {
  [ann, bob] = await Promise.all([
    service.agent({ scopes: ['threads:read', 'threads:write', 'agents:write'] }),
    service.agent(),
  ]);
  const { body } = await post('/threads', { with_handle: bob.handle });
  thread = String(body.id);
});

const post = (path: string, body: object) => service.post(ann, path, body);
const get = (path: string) => service.get(ann, path);

describe.each([
  ['spaces', ' \t\n'],
  ['an invisible character', '\u200B\u2060'],
  ['a blank letter', '\u3164'],
  ['nothing', ''],
])('a message of %s', (_name, content) => {
  test.each([
    ['a send', () => `/threads/${thread}/messages`, { content }, 'content'],
    ['a batch', () => `/threads/${thread}/messages:batch`, { messages: [{ content }] }, 'messages.0.content'],
    ['a question', () => `/threads/${thread}/ask`, { content }, 'content'],
    ['a question in a new thread', () => '/threads/ask', { with_handle: 'BOB', content }, 'content'],
    ['a new thread', () => '/threads', { with_handle: 'BOB', initial_message: content }, 'initial_message'],
    [
      'a new thread with a whole message',
      () => '/threads',
      { with_handle: 'BOB', initial_message: { content } },
      'initial_message.content',
    ],
    ['a reply to a lease', () => '/inbox/leases/lse_1/acknowledge', { reply: content }, 'reply'],
    [
      'a whole reply to a lease',
      () => '/inbox/leases/lse_1/acknowledge',
      { reply: { content } },
      'reply.content',
    ],
  ])('is refused in %s', async (_place, path, body, field) => {
    const filled = JSON.parse(JSON.stringify(body).replace('BOB', bob.handle)) as object;
    const answer = await post(path(), filled);
    expect(outcomeOf(answer)).toBe('400 VALIDATION_ERROR');
    expect(answer.body.error.details).toMatchObject([{ field }]);
    expect((await get(`/threads/${thread}`)).body.last_sequence).toBe(0);
  });
});

test('a visible character is enough', async () => {
  for (const content of ['.', ' x ', '\u{1F600}', '\u0E01', '\u{E000}'])
    expect((await post(`/threads/${thread}/messages`, { content })).status, content).toBe(201);
});

describe.each([
  ['/threads', 'updated_since'],
  ['/messages/search?q=x', 'after'],
  ['/messages/search?q=x', 'before'],
])('%s %s', (path, field) => {
  const ask = (value: string | number) =>
    get(`${path}${path.includes('?') ? '&' : '?'}${field}=${encodeURIComponent(value)}`);

  test.each([1, 1_795_690_000, 99_999_999_999, -1, '1.5', 'yesterday', '2026-13-01', '2026-11-26T25:00:00Z'])(
    'refuses %s and names both forms',
    async (value) => {
      const { status, body } = await ask(value);
      expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(body.error.details).toMatchObject([{ field }]);
      expect(body.error.message).toMatch(/milliseconds .* or an RFC 3339 time/);
    },
  );

  test.each([
    0,
    100_000_000_000,
    1_795_690_000_000,
    '2026-11-26',
    '2026-11-26T09:00:00Z',
    '2026-11-26t09:00:00.5+02:00',
  ])('accepts %s', async (value) => {
    expect((await ask(value)).status).toBe(200);
  });
});

test('a time of RFC 3339 selects what the same milliseconds select', async () => {
  const { body } = await post('/threads', { with_handle: bob.handle });
  const { updated_at } = body;
  const list = async (since: string) =>
    (await get(`/threads?updated_since=${encodeURIComponent(since)}`)).body.threads.map(
      ({ id }: { id: string }) => id,
    );
  expect(await list(new Date(updated_at).toISOString())).toContain(body.id);
  expect(await list(new Date(updated_at + 1).toISOString())).not.toContain(body.id);
});

test('the query of REST is taken literally', async () => {
  await post(`/threads/${thread}/messages`, { content: 'Mail from:bob OR none' });
  const { status } = await get(`/messages/search?q=${encodeURIComponent('from:bob OR none')}`);
  expect(status).toBe(200);
});

test('errors name each field once, and the list of fields last', async () => {
  const { body } = await post(`/threads/${thread}/messages`, { mood: 1, colour: 2 });
  expect(body.error.message).toMatch(
    /^content: is required; mood: is unknown; colour: is unknown\. Fields: [^:]*\.$/,
  );
  const none = await service.patch(ann, '/agents/me', { card: 'x' });
  expect(none.body.error.message).toMatch(/^card: is unknown; did you mean card_body\? Fields: [^:]*\.$/);
  const owner = await service.patch(ann, '/agents/me', { paused: true });
  expect(owner.body.error.message).toBe('Only your owner can change paused, with PATCH /agents/{agent_id}.');
});
