import { outcomeOf } from '../../../clients/rest.ts';
import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();

const post = (agent: TestAgent, path: string, body: object, key: string = randomUUID()) =>
  service.post(agent, path, body, { headers: { 'Idempotency-Key': key } });
const get = (agent: TestAgent, path: string) => service.get(agent, path);

async function conversation() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const { body: thread } = await post(ann, '/threads', { with_handle: bob.handle });
  return { ann, bob, path: `/threads/${thread.id}` };
}

/** Resolves when that many calls wait for events. */
const waiting = (count = 1) =>
  vi.waitFor(() => expect(service.parts.live.realtime.stats().get('poll') ?? 0).toBe(count), {
    timeout: 20_000,
    interval: 5,
  });

const contentsAfter = async (agent: TestAgent, cursor: string) =>
  (await get(agent, `/events?cursor=${encodeURIComponent(cursor)}`)).body.events
    .filter(({ type }: { type: string }) => type === 'message.created')
    .map(({ data }: { data: { content: string } }) => data.content);

test('an answer has the first message of another member after the question', async () => {
  const { ann, bob, path } = await conversation();
  const asking = post(ann, `${path}/ask`, { content: 'How many?' });
  await waiting();
  await post(ann, `${path}/messages`, { content: 'my own addition' });
  await post(bob, `${path}/messages`, { content: 'Seven.' });
  await post(bob, `${path}/messages`, { content: 'Or eight.' });
  const { status, body, headers } = await asking;
  expect([status, body]).toMatchObject([
    201,
    {
      message: { content: 'How many?', sequence: 1 },
      reply: { content: 'Seven.', sequence: 3, relationship: 'none', sender: { id: bob.id } },
      after_sequence: 1,
    },
  ]);
  expect(headers.get('location')).toContain(`${path}/messages`);
  const marks = async () => (await get(bob, `${path}/receipts`)).body.receipts;
  const delivered = { agent: { id: ann.id, canonical_handle: ann.handle }, delivered_up_to_sequence: 3 };
  await expect.poll(marks).toContainEqual(expect.objectContaining(delivered));
  expect(await contentsAfter(ann, body.cursor)).toEqual(['Or eight.']);
});

test('with_handle opens a thread; a question without a reply is continued with wait_for_reply', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const question = { with_handle: bob.handle, subject: 'count', content: 'How many?', wait_seconds: 0 };
  const answer = await post(ann, '/threads/ask', question);
  expect([answer.status, answer.body.reply]).toEqual([201, null]);
  const { thread_id } = answer.body.message;
  expect((await get(bob, `/threads/${thread_id}`)).body).toMatchObject({ subject: 'count', unread_count: 1 });
  const wait = (query: string) => get(ann, `/threads/${thread_id}/reply?after_sequence=1${query}`);
  expect((await wait('&wait_seconds=0')).body).toMatchObject({ thread_id, reply: null, after_sequence: 1 });
  const waitingCall = wait('');
  await waiting();
  await post(bob, `/threads/${thread_id}/messages`, { content: 'Seven.' });
  expect((await waitingCall).body.reply).toMatchObject({ content: 'Seven.', sequence: 2 });
  // It is found at once, however often.
  expect((await wait('')).body.reply.content).toBe('Seven.');
});

test('the cursor of a question that opens a thread is after its reply', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const asking = post(ann, '/threads/ask', { with_handle: bob.handle, content: 'How many?' });
  await waiting();
  const [thread] = (await get(bob, '/threads?unread=true')).body.threads;
  await post(bob, `/threads/${thread.id}/messages`, { content: 'Seven.' });
  await post(bob, `/threads/${thread.id}/messages`, { content: 'Or eight.' });
  const { body } = await asking;
  expect(body.reply.content).toBe('Seven.');
  expect(await contentsAfter(ann, body.cursor)).toEqual(['Or eight.']);
});

test('a repeated question is sent once, and has the reply that arrived since', async () => {
  const { ann, bob, path } = await conversation();
  const key = randomUUID();
  const question = { content: 'Once?', wait_seconds: 0 };
  const first = await post(ann, `${path}/ask`, question, key);
  expect(first.body.reply).toBeNull();
  await post(bob, `${path}/messages`, { content: 'Yes.' });
  const again = await post(ann, `${path}/ask`, question, key);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.body).toMatchObject({ message: first.body.message, reply: { content: 'Yes.' } });
  expect((await get(ann, path)).body.last_sequence).toBe(2);
});

test('the cursor is not after any event that the answer does not contain', async () => {
  const { ann, bob, path } = await conversation();
  const cleo = await service.agent();
  const asking = post(ann, `${path}/ask`, { content: 'How many?' });
  await waiting();
  await post(cleo, '/threads', { with_handle: ann.handle, initial_message: 'from elsewhere' });
  await post(bob, `${path}/messages`, { content: 'Seven.' });
  const { body } = await asking;
  expect(body.reply.content).toBe('Seven.');
  expect(await contentsAfter(ann, body.cursor)).toEqual(['from elsewhere', 'Seven.']);
});

test('a question is refused like a message, before anything is sent', async () => {
  const { ann, bob, path } = await conversation();
  const stranger = await service.agent();
  const writer = { ...ann, token: await service.token(ann.handle, { scopes: ['threads:write'] }) };
  const wrong = [
    [writer, `${path}/ask`, { content: 'x' }, '403 INSUFFICIENT_SCOPE'],
    [stranger, `${path}/ask`, { content: 'x' }, '404 THREAD_NOT_FOUND'],
    [ann, `${path}/ask`, { content: 'x'.repeat(32_769) }, '413 MESSAGE_TOO_LARGE'],
    [ann, '/threads/ask', { content: 'x' }, '400 VALIDATION_ERROR'],
    [ann, '/threads/ask', { content: 'x', with_handle: 'no.one' }, '404 AGENT_NOT_FOUND'],
  ] as const;
  for (const [agent, at, body, outcome] of wrong) {
    const answer = await post(agent, at, body);
    expect(outcomeOf(answer), JSON.stringify(body).slice(0, 80)).toBe(outcome);
  }
  const unseen = await get(stranger, `${path}/reply?after_sequence=0&wait_seconds=0`);
  expect(outcomeOf(unseen)).toBe('404 THREAD_NOT_FOUND');
  expect((await get(ann, path)).body.last_sequence).toBe(0);
  expect((await get(bob, '/threads')).body.threads).toHaveLength(1);
});

test('a question whose token ends while it waits was sent, and is answered without a reply', async () => {
  const { ann, path } = await conversation();
  const asking = post(ann, `${path}/ask`, { content: 'Still there?' });
  await waiting();
  service.parts.live.realtime.revoke((actor) => actor.agent_id === ann.id);
  expect([(await asking).status, (await asking).body.reply]).toEqual([201, null]);
});
