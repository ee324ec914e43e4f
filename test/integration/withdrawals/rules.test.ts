import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { followFeed } from '../../clients/feed.ts';
import { outcomeOf } from '../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { expireLeases, inboxOf, startWork, textsOf } from '../inbox/setup.ts';

const service = useSharedService();

const withdraw = (agent: Pick<TestAgent, 'token'>, id: string) =>
  service.post(agent, `/messages/${id}/withdraw`);

async function talk() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread = await service.thread(ann, bob);
  const path = `/threads/${thread}/messages`;
  const send = async (content: string, from = ann, more: object = {}) => {
    const sent = await service.post(from, path, { content, ...more });
    expect(sent.status).toBe(201);
    return sent.body;
  };
  const list = async (by = bob) => (await service.get(by, `${path}?order=asc`)).body.messages;
  return { ann, bob, thread, path, send, list };
}

test('a withdrawn message keeps its place without content, and the members get one event', async () => {
  const { ann, bob, thread, send, list } = await talk();
  const feeds = await Promise.all([ann, bob].map(({ token }) => followFeed(service.api, token)));
  const question = await send('Which order?', bob);
  const sent = await send('the **secret**', ann, {
    content_type: 'markdown',
    reply_to: question.id,
    metadata: { key: 'secret' },
  });
  await send('after it');
  const withdrawn = await withdraw(ann, sent.id);
  expect(withdrawn).toMatchObject({ status: 200, body: { withdrawn_at: expect.any(Number) } });
  const { withdrawn_at } = withdrawn.body;
  const empty = { content: '', content_type: 'text', metadata: {}, attachments: [], withdrawn_at };
  expect(withdrawn.body).toEqual({ ...sent, ...empty });
  expect(await list()).toEqual([question, withdrawn.body, expect.objectContaining({ sequence: 3 })]);
  const again = await withdraw(ann, sent.id);
  expect([again.status, again.body]).toEqual([200, withdrawn.body]);

  for (const feed of feeds) {
    const events = await feed();
    expect(events.map(({ type }) => type)).toEqual([
      'message.created',
      'message.created',
      'message.created',
      'message.withdrawn',
    ]);
    // A reader from an older cursor gets the withdrawn form.
    expect(events[1]?.data).toEqual(withdrawn.body);
    const by = { id: ann.id, canonical_handle: ann.handle };
    expect(events[3]?.data).toEqual({
      thread_id: thread,
      message_id: sent.id,
      sequence: 2,
      by,
      withdrawn_at,
    });
  }
});

test('only the sender withdraws, only in an active thread, and others learn nothing of the message', async () => {
  const { ann, bob, thread, send, list } = await talk();
  const { id } = await send('mine');
  const eve = await service.agent();
  const refusals = [
    await withdraw(eve, id),
    await withdraw(eve, 'msg_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
    await withdraw(eve, 'no id'),
  ];
  expect(refusals.map(outcomeOf)).toEqual(Array(3).fill('404 MESSAGE_NOT_FOUND'));
  expect(new Set(refusals.map(({ body }) => body.error.message)).size).toBe(1);
  expect(outcomeOf(await withdraw(bob, id))).toBe('403 FORBIDDEN');
  const reader = { token: await service.token(ann.handle, { scopes: ['threads:read'] }) };
  expect(outcomeOf(await withdraw(reader, id))).toBe('403 INSUFFICIENT_SCOPE');
  for (const status of ['closed', 'archived']) {
    await service.patch(bob, `/threads/${thread}`, { status });
    const refused = await withdraw(ann, id);
    expect([outcomeOf(refused), refused.body.error.message]).toEqual([
      '403 THREAD_CLOSED',
      `This thread is ${status}; set its status to active first, or open another thread.`,
    ]);
  }
  expect((await list()).map(({ content }: { content: string }) => content)).toEqual(['mine']);
  await service.patch(ann, `/threads/${thread}`, { status: 'active' });
  const withdrawn = await withdraw(ann, id);
  await service.patch(ann, `/threads/${thread}`, { status: 'closed' });
  // The same answer as before, in every state of the thread.
  expect((await withdraw(ann, id)).body).toEqual(withdrawn.body);
  await service.delete(ann, `/threads/${thread}/members/${ann.handle}`);
  expect(outcomeOf(await withdraw(ann, id))).toBe('404 MESSAGE_NOT_FOUND');
});

test('two withdrawals at the same time are one', async () => {
  const { ann, bob, send } = await talk();
  const { id } = await send('once');
  const feed = await followFeed(service.api, bob.token);
  const answers = await Promise.all(Array.from({ length: 5 }, () => withdraw(ann, id)));
  expect(new Set(answers.map(({ body }) => body.withdrawn_at)).size).toBe(1);
  expect((await feed()).map(({ type }) => type)).toEqual(['message.withdrawn']);
});

test('a repeated send returns the withdrawn message, alone and in a batch, and does not bring it back', async () => {
  const { ann, path, thread, list } = await talk();
  const [key, batchKey] = [randomUUID(), randomUUID()];
  const sendAlone = () => service.post(ann, path, { content: 'secret one' }, { key });
  const messages = [{ content: 'secret two', idempotency_key: 'k' }, { content: 'stays' }];
  const sendBatch = () => service.post(ann, `${path}:batch`, { messages }, { key: batchKey });
  const one = await sendAlone();
  const batch = await sendBatch();
  const two = batch.body.results[0].message;
  for (const id of [one.body.id, two.id]) expect((await withdraw(ann, id)).status).toBe(200);
  const [first, second] = await list(ann);
  const replay = await sendAlone();
  expect([replay.status, replay.headers.get('idempotency-replayed'), replay.body]).toEqual([
    201,
    'true',
    first,
  ]);
  expect((await sendBatch()).body.results).toEqual([
    { status: 201, message: second },
    expect.objectContaining({ message: expect.objectContaining({ content: 'stays' }) }),
  ]);
  const single = await service.post(ann, path, { content: 'secret two' }, { key: 'k' });
  expect([single.status, single.body]).toEqual([201, second]);
  expect(outcomeOf(await service.post(ann, path, { content: 'other' }, { key }))).toBe(
    '422 IDEMPOTENCY_MISMATCH',
  );
  expect((await service.get(ann, `/threads/${thread}`)).body.last_sequence).toBe(3);
});

test('a withdrawn question cancels its open task, and nothing waits for a reply', async () => {
  const { ann, bob, thread, send } = await talk();
  const question = await service.post(ann, `/threads/${thread}/ask`, { content: 'secret?', wait_seconds: 0 });
  const other = await service.post(ann, `/threads/${thread}/ask`, { content: 'open?', wait_seconds: 0 });
  const flagged = await send('hello?', ann, { metadata: { expects_reply: true } });
  const people = { token: await service.token(bob.handle, { scopes: ['conversations:read'] }) };
  const waits = async () => JSON.stringify((await service.get(people, '/waits')).body);
  expect(await waits()).toContain(flagged.id);
  const feed = await followFeed(service.api, bob.token);
  for (const id of [question.body.message.id, flagged.id]) expect((await withdraw(ann, id)).status).toBe(200);
  const [canceled, withdrawn] = await feed();
  expect(canceled).toMatchObject({
    type: 'task.updated',
    data: { task: { id: question.body.task.id, state: 'canceled' }, change: 'state', by: { id: ann.id } },
  });
  expect(withdrawn?.type).toBe('message.withdrawn');
  const task = (await service.get(bob, `/tasks/${question.body.task.id}`)).body;
  expect(task.messages[0]).toMatchObject({ content: '', withdrawn_at: expect.any(Number) });
  expect((await service.get(bob, `/tasks/${other.body.task.id}`)).body.state).toBe('submitted');
  expect(await waits()).not.toContain(flagged.id);
});

test('a withdrawn answer stays the result of its task, without its data', async () => {
  const { ann, bob, thread } = await talk();
  const question = await service.post(ann, `/threads/${thread}/ask`, { content: 'When?', wait_seconds: 0 });
  const path = `/tasks/${question.body.task.id}`;
  await service.post(bob, `${path}/update`, {
    state: 'completed',
    message: 'the secret day',
    data: { day: 'secret' },
    artifact: true,
  });
  const [, answer] = (await service.get(ann, path)).body.messages;
  expect((await withdraw(bob, answer.id)).status).toBe(200);
  const task = (await service.get(ann, path)).body;
  expect(task.state).toBe('completed');
  expect(task.messages[1]).toMatchObject({ artifact: true, data: null, content: '' });
  expect(JSON.stringify(task)).not.toContain('secret');
});

test('a claim skips a withdrawn message, whether it was copied, leased or never seen by the inbox', async () => {
  const { asker, inbox, send } = await startWork(service);
  const [one, two, three] = [await send('one'), await send('two'), await send('three')];
  const [lease] = await inbox.leases();
  expect(textsOf(lease ? [lease] : [])).toEqual(['one']);
  // The first one is leased, the second one is copied, and the next one is only in the feed.
  const four = await send('four');
  for (const { id } of [two, one, four]) expect((await withdraw(asker, id)).status).toBe(200);
  expect((await inbox.get()).body).toMatchObject({ ready: 1, leased: 1 });
  expect((await inbox.release(lease?.id ?? '')).status).toBe(200);
  const leases = await inbox.leases({ max: 10 });
  expect(leases.map(({ event }) => event.data.id)).toEqual([three.id]);
  expect((await inbox.acknowledge(leases[0]?.id ?? '')).status).toBe(200);
  expect(await inbox.leases({ max: 10 })).toEqual([]);
});

test('a withdrawn message is not leased again after its lease expired, and a reply to it is still possible', async () => {
  const { asker, worker, inbox, send, thread } = await startWork(service);
  const first = await send('first');
  const [lease] = await inbox.leases();
  await withdraw(asker, first.id);
  const reply = await inbox.acknowledge(lease?.id ?? '', { reply: 'I have read it.' });
  expect(reply).toMatchObject({ status: 200, body: { message: { reply_to: first.id } } });
  const second = await send('second');
  expect(textsOf(await inbox.leases())).toEqual(['second']);
  await withdraw(asker, second.id);
  await expireLeases(service, worker);
  await send('third');
  expect(textsOf(await inbox.leases({ max: 10 }))).toEqual(['third']);
  const { body } = await service.get(asker, `/threads/${thread}/receipts`);
  expect(body.receipts).toHaveLength(2);
});

test('an inbox that wants them gets withdrawals as items', async () => {
  const { asker, worker, send } = await startWork(service);
  const inbox = inboxOf(service.api, worker);
  await inbox.turnOn({ types: ['message.created', 'message.withdrawn'] });
  const sent = await send('seen');
  const [lease] = await inbox.leases();
  await inbox.acknowledge(lease?.id ?? '');
  await withdraw(asker, sent.id);
  const [next] = await inbox.leases();
  expect(next?.event).toMatchObject({ type: 'message.withdrawn', data: { message_id: sent.id } });
});
