import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { followFeed } from '../../../clients/feed.ts';
import { outcomeOf, type RestResponse } from '../../../clients/rest.ts';
import { useContacts } from '../../../clients/contacts.ts';
import { type TestAgent, useService } from '../../../support/service.ts';
import { upload } from '../../attachments/setup.ts';
import { call, openConversation, rest } from '../../ws/caller.ts';
const service = useService({ worker: false, env: { RATE_LIMITS: 'send_message=110/60,loop=2/600' } });

async function conversation() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread = await service.thread(ann, bob);
  return { id: thread, ann, bob };
}

interface Draft {
  content: string;
  [field: string]: unknown;
}

const sendBatch = (id: string, by: TestAgent, messages: readonly Draft[], key: string = randomUUID()) =>
  service.post(by, `/threads/${id}/messages:batch`, { messages }, { key });

const send = (id: string, by: TestAgent, content: string, key: string = randomUUID()) =>
  service.post(by, `/threads/${id}/messages`, { content }, { key });

const list = async (id: string, by: TestAgent) =>
  (await service.get(by, `/threads/${id}/messages?order=asc&limit=100`)).body.messages as {
    id: string;
    content: string;
  }[];

const drafts = (count: number, prefix = 'message'): Draft[] =>
  Array.from({ length: count }, (_, at) => ({ content: `${prefix} ${at}` }));

/** The status of each result, with its error code. */
const outcomes = ({ body }: RestResponse): unknown[] =>
  body.results.map(({ status, error }: { status: number; error?: { code: string } }) =>
    error ? [status, error.code] : status,
  );

test('a hundred messages are sent in their order, in one transaction, and every member receives them once', async () => {
  const { id, ann, bob } = await conversation();
  const feeds = await Promise.all([ann, bob].map(({ token }) => followFeed(service.api, token)));
  const answer = await sendBatch(id, ann, drafts(100));
  expect(answer.status).toBe(200);
  const sent = answer.body.results.map(({ message }: { message: object }) => message);
  expect(outcomes(answer)).toEqual(sent.map(() => 201));
  expect(await list(id, bob)).toEqual(sent);
  expect(sent.map(({ content, sequence }: Draft) => [content, sequence])).toEqual(
    drafts(100).map(({ content }, at) => [content, at + 1]),
  );
  for (const readNew of feeds) expect((await readNew()).map(({ data }) => data)).toEqual(sent);
  const text = 'select distinct xmin::text from messages where thread_id = $1';
  expect(await service.sql(text, [id])).toHaveLength(1);
});

test('a refused message gets its own error, and the others are sent', async () => {
  const { id, ann, bob } = await conversation();
  const first = await send(id, ann, 'the question');
  const file = await upload(service, bob, { bytes: Buffer.from('a file') });
  const answer = await sendBatch(id, bob, [
    { content: 'a reply', reply_to: first.body.id },
    { content: 'a reply to nothing', reply_to: 'msg_nothing' },
    { content: '', attachment_ids: [file.body.id] },
    { content: 'the same file', attachment_ids: [file.body.id] },
    { content: 'no such file', attachment_ids: ['att_nothing'] },
    { content: 'the end' },
  ]);
  expect(answer.status).toBe(200);
  expect(outcomes(answer)).toEqual([
    201,
    [404, 'MESSAGE_NOT_FOUND'],
    201,
    [409, 'ATTACHMENT_ALREADY_SENT'],
    [404, 'ATTACHMENT_NOT_FOUND'],
    201,
  ]);
  const stored = await list(id, ann);
  expect(stored.map(({ content }) => content)).toEqual(['the question', 'a reply', '', 'the end']);
});

test('the key of a batch replays its results byte for byte, and refuses another body', async () => {
  const { id, ann } = await conversation();
  const key = randomUUID();
  const messages = [...drafts(2), { content: 'x', reply_to: 'msg_nothing' }];
  const answers = await Promise.all(Array.from({ length: 8 }, () => sendBatch(id, ann, messages, key)));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
  expect(replayed).toHaveLength(7);
  expect(await list(id, ann)).toHaveLength(2);
  const other = await sendBatch(id, ann, drafts(2, 'another'), key);
  expect(outcomeOf(other)).toBe('422 IDEMPOTENCY_MISMATCH');
  const missing = await service.post(ann, `/threads/${id}/messages:batch`, { messages }, { key: null });
  expect(outcomeOf(missing)).toBe('400 IDEMPOTENCY_KEY_REQUIRED');
});

test('a message is sent once under its own key, alone or in any batch', async () => {
  const { id, ann } = await conversation();
  const [alone, first, second] = [randomUUID(), randomUUID(), randomUUID()];
  const single = await send(id, ann, 'alone', alone);
  const batch = await sendBatch(id, ann, [
    { content: 'alone', idempotency_key: alone },
    { content: 'first', idempotency_key: first },
    { content: 'without a key' },
  ]);
  expect(batch.body.results[0]).toEqual({ status: 201, replayed: true, message: single.body });
  expect(outcomes(batch)).toEqual([201, 201, 201]);
  const again = await sendBatch(id, ann, [
    { content: 'another text', idempotency_key: alone },
    { content: 'first', idempotency_key: first },
    { content: 'second', idempotency_key: second },
  ]);
  expect(outcomes(again)).toEqual([[422, 'IDEMPOTENCY_MISMATCH'], 201, 201]);
  expect(again.body.results[1]).toEqual({ ...batch.body.results[1], replayed: true });
  const repeated = await send(id, ann, 'second', second);
  expect(repeated.headers.get('idempotency-replayed')).toBe('true');
  expect(repeated.body).toEqual(again.body.results[2].message);
  const contents = (await list(id, ann)).map(({ content }) => content);
  expect(contents).toEqual(['alone', 'first', 'without a key', 'second']);
});

test('one key in concurrent batches and single sends creates one message', async () => {
  const { id, ann } = await conversation();
  const idempotency_key = randomUUID();
  const calls = Array.from({ length: 10 }, (_, at) =>
    at % 2
      ? send(id, ann, 'once', idempotency_key)
      : sendBatch(id, ann, [{ content: 'once', idempotency_key }, { content: `other ${at}` }]),
  );
  const ids = (await Promise.all(calls)).map(({ body }) => body.id ?? body.results[0].message.id);
  expect(new Set(ids).size).toBe(1);
  const contents = (await list(id, ann)).map(({ content }) => content);
  expect(contents.toSorted()).toEqual(['once', 'other 0', 'other 2', 'other 4', 'other 6', 'other 8']);
});

test('a batch whose messages all have the same error is refused as a single send, and its key stays unused', async () => {
  const { id, ann, bob } = await conversation();
  const stranger = await service.agent();
  expect((await sendBatch(id, stranger, drafts(3))).body.error.code).toBe('THREAD_NOT_FOUND');
  const setStatus = (status: string) => service.patch(ann, `/threads/${id}`, { status });
  await setStatus('closed');
  const key = randomUUID();
  const closed = await sendBatch(id, ann, drafts(3), key);
  expect(outcomeOf(closed)).toBe('403 THREAD_CLOSED');
  await setStatus('active');
  expect(outcomes(await sendBatch(id, ann, drafts(3), key))).toEqual([201, 201, 201]);
  await useContacts(service).block(bob, ann.handle);
  const blocked = await sendBatch(id, ann, drafts(2));
  expect(outcomeOf(blocked)).toBe('403 NOT_ALLOWED');
  expect(await list(id, ann)).toHaveLength(3);
});

test('each message counts against the rate limit; those over it are refused, and later ones too', async () => {
  const { id, ann } = await conversation();
  const first = await sendBatch(id, ann, drafts(100));
  expect(first.headers.get('ratelimit')).toContain('"send_message";r=10;');
  const second = await sendBatch(id, ann, drafts(12));
  const limited = [429, 'RATE_LIMITED'];
  expect(outcomes(second)).toEqual([...Array.from({ length: 10 }, () => 201), limited, limited]);
  expect(second.body.results[10].retry_after).toBeGreaterThan(0);
  const third = await sendBatch(id, ann, drafts(2));
  expect(outcomeOf(third)).toBe('429 RATE_LIMITED');
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await send(id, ann, 'one more')).status).toBe(429);
});

test('the loop guard counts a batch as one reply', async () => {
  const { id, ann, bob } = await conversation();
  await sendBatch(id, ann, drafts(5));
  expect(outcomes(await sendBatch(id, bob, drafts(5)))).toEqual([201, 201, 201, 201, 201]);
  expect((await sendBatch(id, ann, drafts(2))).status).toBe(200);
  const refused = await sendBatch(id, bob, drafts(2));
  expect([refused.status, refused.body.error.details]).toEqual([
    429,
    [expect.objectContaining({ reason: 'loop' })],
  ]);
});

const wrong: [what: string, messages: unknown, status: number, field: string][] = [
  ['no message', [], 400, 'messages'],
  ['too many messages', drafts(101), 400, 'messages'],
  ['no list', { content: 'x' }, 400, 'messages'],
  ['an empty message', [{ content: 'x' }, { content: '' }], 400, 'messages.1.content'],
  ['a message that is too large', [{ content: 'x'.repeat(32_769) }], 413, 'messages.0.content'],
  ['an unknown field', [{ content: 'x', colour: 'red' }], 400, 'messages.0.colour'],
  ['a wrong key', [{ content: 'x', idempotency_key: 'two words' }], 400, 'messages.0.idempotency_key'],
  [
    'a key twice',
    [
      { content: 'x', idempotency_key: 'a' },
      { content: 'y', idempotency_key: 'a' },
    ],
    400,
    'messages',
  ],
];

test.each(wrong)('a batch with %s is refused, and nothing is sent', async (_, messages, status, field) => {
  const { id, ann } = await conversation();
  const answer = await service.post(ann, `/threads/${id}/messages:batch`, { messages });
  expect(answer.status).toBe(status);
  expect(answer.body.error.details.map((detail: { field: string }) => detail.field)).toContain(field);
  expect(await list(id, ann)).toEqual([]);
});

test('a WebSocket call sends a batch with the same results as REST', async () => {
  const { ann, bob, thread_id } = await openConversation(service);
  const key = randomUUID();
  const input = { thread_id, messages: drafts(3) };
  const result = await call(ann, 'send_messages', input, key);
  expect(result.output.results.map(({ status }: { status: number }) => status)).toEqual([201, 201, 201]);
  for (const { message } of result.output.results) {
    const event = await bob.socket.next(({ type }) => type === 'message.created');
    expect(event.data).toEqual(message);
  }
  const again = await rest(
    service,
    ann,
    'POST',
    `/threads/${thread_id}/messages:batch`,
    { messages: drafts(3) },
    key,
  );
  expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', result.output]);
});

test('the path of batches accepts no other method and no other name', async () => {
  const { id, ann } = await conversation();
  const read = await service.get(ann, `/threads/${id}/messages:batch`);
  expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
  const other = await service.post(ann, `/threads/${id}/messages:other`, { messages: drafts(1) });
  expect(other.status).toBe(404);
});
