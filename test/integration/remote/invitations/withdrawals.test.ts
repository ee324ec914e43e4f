import { afterAll, beforeAll, expect, test } from 'vitest';
import { a2aAddress, createA2aClient, toA2aMessage } from '../../../clients/a2a.ts';
import type { ProxyAction } from '../../../support/servers/http-proxy.ts';
import type { TestAgent } from '../../../support/service.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import type { Installation, ReadMessage } from '../setup.ts';
import { connect, pickFault, startBehindProxy, threadOf, tokenFor } from './setup.ts';

let isFaulty = false;
/** What happens to requests to the side of Bob. */
let lineThere: ProxyAction = 'pass';
let here: Installation;
let there: Installation;

beforeAll(async () => {
  here = await startBehindProxy(() => (isFaulty ? pickFault() : 'pass'));
  there = await startBehindProxy(() => (isFaulty ? pickFault() : lineThere));
});
afterAll(() => Promise.all([here.stop(), there.stop()]));

const note = { metadata: { no_reply_expected: true } };
const extension = 'urn:agent-messaging-service:a2a:mailbox:1';

/** Ann and Bob, and the threads of their first conversation. */
async function meet() {
  lineThere = 'pass';
  const connected = await connect(here, there);
  const { thread_id, task_id } = await here.ask(connected.ann, connected.remoteBob, 'Hello?');
  return { ...connected, thread_id, task_id, thread: await threadOf(there, connected.bob) };
}

async function withdraw(service: Installation, by: TestAgent, id: string): Promise<void> {
  const { status, text } = await service.post(by, `/messages/${id}/withdraw`);
  expect(status, text).toBe(200);
}

/** The contents of the messages of a thread; a withdrawn one is null. */
async function contentsOf(service: Installation, by: TestAgent, thread_id: string) {
  const messages = await service.messages(by, thread_id);
  return messages.map(({ content, withdrawn_at }: ReadMessage & { withdrawn_at?: number | null }) =>
    withdrawn_at == null ? content : null,
  );
}

/** Withdrawals that were not told. */
const listPending = async (service: Installation): Promise<object[]> =>
  service.sql('select message_id from remote_withdrawals');

const idOf = async (service: Installation, by: TestAgent, thread_id: string, text: string): Promise<string> =>
  (await service.messages(by, thread_id)).find(({ content }) => content === text)?.id ?? '';

test('a message that was sent is withdrawn at the other installation, which tells its agent', async () => {
  const { ann, bob, remoteAnn, thread, thread_id } = await meet();
  const { id } = await here.send(ann, thread_id, 'A secret.', note);
  await waitUntil(() => contentsOf(there, bob, thread)).toEqual(['Hello?', 'A secret.']);
  const message_id = await idOf(there, bob, thread, 'A secret.');
  const events = await there.follow(bob, 'message.withdrawn');
  await withdraw(here, ann, id);
  await waitUntil(events).toMatchObject([{ thread_id: thread, message_id, by: { id: remoteAnn.id } }]);
  await here.send(ann, thread_id, 'Next.', note);
  await waitUntil(() => contentsOf(there, bob, thread)).toEqual(['Hello?', null, 'Next.']);
  // The other side does not tell it back, and a repeated withdrawal tells nothing more.
  await withdraw(here, ann, id);
  expect([await listPending(here), await listPending(there)]).toEqual([[], []]);
  expect(await events()).toHaveLength(1);
});

test('a question that is withdrawn is canceled at both sides', async () => {
  const { ann, bob, thread, thread_id, task_id } = await meet();
  await withdraw(here, ann, await idOf(here, ann, thread_id, 'Hello?'));
  await waitUntil(() => contentsOf(there, bob, thread)).toEqual([null]);
  const { tasks } = (await there.get(bob, '/tasks?role=asked')).body;
  expect(tasks).toMatchObject([{ state: 'canceled' }]);
  expect((await here.readTask(ann, task_id)).state).toBe('canceled');
});

test('an answer that came as the update of a task is withdrawn too', async () => {
  const { ann, bob, remoteBob, thread, thread_id, task_id } = await meet();
  const { id } = await there.send(bob, thread, 'A secret.');
  await waitUntil(() => contentsOf(here, ann, thread_id)).toEqual(['Hello?', 'A secret.']);
  const message_id = await idOf(here, ann, thread_id, 'A secret.');
  const events = await here.follow(ann, 'message.withdrawn');
  await withdraw(there, bob, id);
  await waitUntil(events).toMatchObject([{ thread_id, message_id, by: { id: remoteBob.id } }]);
  expect(await contentsOf(here, ann, thread_id)).toEqual(['Hello?', null]);
  expect((await here.readTask(ann, task_id)).state).toBe('completed');
});

test('an answer that is withdrawn before it was read never shows its content', async () => {
  const { ann, bob, thread, thread_id } = await meet();
  await here.holdThread(thread_id);
  const { id } = await there.send(bob, thread, 'A secret.');
  await withdraw(there, bob, id);
  await there.send(bob, thread, 'Next.');
  const received = await here.follow(ann, 'message.received');
  await here.pass(thread_id);
  // The next one does not wait for a withdrawn one.
  await waitUntil(async () => {
    await here.pass(thread_id);
    return (await contentsOf(here, ann, thread_id)).map((text) => text ?? 'withdrawn').sort();
  }).toEqual(['Hello?', 'Next.', 'withdrawn']);
  expect(JSON.stringify(await received())).not.toContain('A secret.');
});

test('a message that was not sent is not sent, and one that may have arrived is withdrawn', async () => {
  const { ann, bob, thread, thread_id } = await meet();
  lineThere = 503;
  const unsent = await here.send(ann, thread_id, 'Not sent.', note);
  await withdraw(here, ann, unsent.id);
  lineThere = 'pass';
  await here.send(ann, thread_id, 'Next.', note);
  await waitUntil(() => contentsOf(there, bob, thread)).toEqual(['Hello?', 'Next.']);
  lineThere = 'unanswered';
  const unclear = await here.send(ann, thread_id, 'Unclear.', note);
  await waitUntil(() => contentsOf(there, bob, thread)).toEqual(['Hello?', 'Next.', 'Unclear.']);
  await withdraw(here, ann, unclear.id);
  lineThere = 'pass';
  await waitUntil(() => contentsOf(there, bob, thread)).toEqual(['Hello?', 'Next.', null]);
});

test('a withdrawal has attempts of its own, however often a message was attempted', async () => {
  const { ann, bob, thread, thread_id } = await meet();
  const { id } = await here.send(ann, thread_id, 'A secret.', note);
  await waitUntil(() => contentsOf(there, bob, thread)).toEqual(['Hello?', 'A secret.']);
  lineThere = 503;
  await here.sql('update remote_threads set attempts = 1000 where thread_id = $1', [thread_id]);
  await withdraw(here, ann, id);
  const attempts = () => here.sql('select attempts from remote_withdrawals where message_id = $1', [id]);
  await waitUntil(attempts).toEqual([{ attempts: expect.toSatisfy((count: number) => count > 0) }]);
  lineThere = 'pass';
  await waitUntil(() => contentsOf(there, bob, thread)).toEqual(['Hello?', null]);
});

test('over lines that drop and double requests, what is withdrawn is withdrawn, and nothing else', async () => {
  const { ann, bob, thread, thread_id } = await meet();
  const count = 6;
  isFaulty = true;
  try {
    for (let at = 0; at < count; at += 1) {
      const [mine, theirs] = [
        await here.send(ann, thread_id, `here ${at}`, note),
        await there.send(bob, thread, `there ${at}`, note),
      ];
      if (at % 2 === 0) await Promise.all([withdraw(here, ann, mine.id), withdraw(there, bob, theirs.id)]);
    }
    await waitUntil(async () => (await contentsOf(there, bob, thread)).includes('here 3')).toBe(true);
  } finally {
    isFaulty = false;
  }
  const expected = [1, 3, 5].flatMap((at) => [`here ${at}`, `there ${at}`]).sort();
  const kept = async (service: Installation, by: TestAgent, id: string) =>
    (await contentsOf(service, by, id))
      .flatMap((text) => (text === null || text === 'Hello?' ? [] : [text]))
      .sort();
  await waitUntil(() => Promise.all([kept(here, ann, thread_id), kept(there, bob, thread)])).toEqual([
    expected,
    expected,
  ]);
  await waitUntil(async () => [...(await listPending(here)), ...(await listPending(there))]).toEqual([]);
  expect(await Promise.all([kept(here, ann, thread_id), kept(there, bob, thread)])).toEqual([
    expected,
    expected,
  ]);
});

test('a withdrawal of anything else changes nothing, and its answer tells nothing', async () => {
  const { ann, bob, remoteBob, thread, thread_id } = await meet();
  const other = await meet();
  await there.send(bob, thread, 'By Bob.');
  await waitUntil(() => contentsOf(here, ann, thread_id)).toEqual(['Hello?', 'By Bob.']);
  // Another conversation of the same two.
  const second = await here.thread(ann, remoteBob);
  const { id: elsewhere } = await here.send(ann, second, 'Elsewhere.', note);
  const found = async () => {
    const { body } = await there.get(bob, '/threads');
    const ids = body.threads.map(({ id }: { id: string }) => id);
    return ids.filter((id: string) => id !== thread);
  };
  await waitUntil(async () => (await found()).length).toBe(1);
  const events = await there.follow(bob, 'message.withdrawn');
  const client = createA2aClient(
    'JSONRPC',
    a2aAddress(there.url, bob.handle),
    await tokenFor(here, remoteBob),
  );
  const named = [
    'unknown',
    await idOf(there, bob, thread, 'By Bob.'),
    await idOf(there, bob, thread, 'Hello?'),
    elsewhere,
    await idOf(here, other.ann, other.thread_id, 'Hello?'),
    await idOf(there, other.bob, other.thread, 'Hello?'),
  ];
  for (const withdraws of named)
    for (const conversation of [thread_id, other.thread_id, thread, undefined]) {
      const metadata = { [extension]: { withdraws, conversation } };
      const { status, result } = await client.call('SendMessage', {
        message: toA2aMessage('Withdrawn.', { messageId: 'one', metadata, contextId: other.thread }),
      });
      expect({ status, result }).toEqual({
        status: 200,
        result: { message: expect.objectContaining({ messageId: 'one-answer', role: 'ROLE_AGENT' }) },
      });
    }
  expect(await contentsOf(there, bob, thread)).toEqual(['Hello?', 'By Bob.']);
  expect(await contentsOf(there, other.bob, other.thread)).toEqual(['Hello?']);
  for (const id of await found()) expect(await contentsOf(there, bob, id)).toEqual(['Elsewhere.']);
  expect(await events()).toEqual([]);
});
