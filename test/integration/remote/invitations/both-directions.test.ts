import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProxyAction } from '../../../support/servers/http-proxy.ts';
import type { TestAgent } from '../../../support/service.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { type Installation, storyOf } from '../setup.ts';
import { connect, pickFault, startBehindProxy, threadOf } from './setup.ts';

let isFaulty = false;
/** What happens to requests to the side of Bob. */
let lineThere: ProxyAction = 'pass';
const decide = (line: ProxyAction): ProxyAction => (isFaulty ? pickFault() : line);

let here: Installation;
let there: Installation;

beforeAll(async () => {
  here = await startBehindProxy(() => decide('pass'));
  there = await startBehindProxy(() => decide(lineThere));
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
});

/** Ann and Bob, and the threads of their first conversation. */
async function meet() {
  const connected = await connect(here, there);
  const { ann, bob, remoteBob } = connected;
  const { thread_id, task_id } = await here.ask(ann, remoteBob, 'Hello?');
  return { ...connected, thread_id, task_id, thread: await threadOf(there, bob) };
}

/** Waits until both sides have as many messages. @returns what Ann and what Bob sees */
async function readBoth(
  { ann, thread_id, remoteAnn, bob, thread }: Awaited<ReturnType<typeof meet>>,
  count: number,
) {
  const sees = [
    async () => storyOf(await here.messages(ann, thread_id), ann),
    async () => storyOf(await there.messages(bob, thread), remoteAnn),
  ] as const;
  let calls = 0;
  await waitUntil(async () => {
    // Each of these interrupts the workers.
    if (calls++ % 25 === 0) await Promise.all([here.pass(thread_id), there.pass(thread)]);
    return Promise.all(sees.map(async (see) => (await see()).length));
  }).toEqual([count, count]);
  return Promise.all(sees.map((see) => see()));
}

const linesOf = (story: readonly string[] | undefined, who: 'here' | 'there'): string[] =>
  (story ?? []).filter((line) => line.startsWith(who));

describe('an answer travels as the update of its task, and the message after it by itself', () => {
  test('the order stays when the answer is read late', async () => {
    const both = await meet();
    const { bob, thread, thread_id } = both;
    await here.holdThread(thread_id);
    await there.send(bob, thread, 'The answer.');
    await there.send(bob, thread, 'And more.');
    const remote = async () => (await there.core.db.remoteAgents.find(both.remoteAnn.id))?.last_error;
    await waitUntil(remote).toContain('An earlier message of this conversation has not arrived yet');
    const counted = 'select attempts from remote_threads where thread_id = $1';
    expect(await there.sql(counted, [thread])).toEqual([{ attempts: 0 }]);
    const story = ['here: Hello?', 'there: The answer.', 'there: And more.'];
    expect(await readBoth(both, 3)).toEqual([story, story]);
  });

  test('the order stays when it is not known yet that the question arrived', async () => {
    const both = await meet();
    const { ann, bob, thread, thread_id, task_id } = both;
    await there.send(bob, thread, 'Hello.');
    await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
    await here.sql('update remote_tasks set poll_at = null where thread_id = $1', [thread_id]);
    lineThere = 'unanswered';
    const { message_id } = await here.ask(ann, { thread_id }, 'Which day?');
    await waitUntil(async () => (await there.messages(bob, thread)).length).toBe(3);
    const question = (await there.messages(bob, thread))[2];
    await there.send(bob, thread, 'Friday.', { reply_to: question?.id });
    await there.send(bob, thread, 'At noon.');
    const remote = async () => (await there.core.db.remoteAgents.find(both.remoteAnn.id))?.last_error;
    await waitUntil(remote).toContain('An earlier message of this conversation has not arrived yet');
    lineThere = 'pass';
    const story = ['here: Hello?', 'there: Hello.', 'here: Which day?', 'there: Friday.', 'there: At noon.'];
    expect(await readBoth(both, 5)).toEqual([story, story]);
    const [sent] = await here.sql('select outcome from remote_messages where message_id = $1', [message_id]);
    expect(sent).toEqual({ outcome: 'accepted' });
  });

  test('the order stays when a message before the answer is late', async () => {
    const both = await meet();
    const { ann, bob, thread, thread_id } = both;
    await there.send(bob, thread, 'First.');
    await readBoth(both, 2);
    await there.holdThread(thread);
    await there.send(bob, thread, 'By itself.', { metadata: { no_reply_expected: true } });
    const { task_id } = await here.ask(ann, { thread_id }, 'And?');
    await waitUntil(async () => (await there.messages(bob, thread)).length).toBe(4);
    await there.send(bob, thread, 'Later.');
    const polls = async () => {
      await here.pass(thread_id);
      const sql = 'select polls from remote_tasks where task_id = $1';
      return Number((await here.sql<{ polls: number }>(sql, [task_id]))[0]?.polls);
    };
    await waitUntil(polls).toBeGreaterThan(3);
    expect((await here.messages(ann, thread_id)).length).toBe(3);
    const [seen] = await readBoth(both, 5);
    expect(linesOf(seen, 'there')).toEqual(['there: First.', 'there: By itself.', 'there: Later.']);
  });
});

test('each side opens tasks in the same thread, and each answer completes the right one', async () => {
  const both = await meet();
  const { ann, bob, thread, thread_id, task_id } = both;
  const theirs = await there.ask(bob, { thread_id: thread }, 'Which order?');
  await waitUntil(async () => (await here.messages(ann, thread_id)).length).toBe(2);
  const question = (await here.messages(ann, thread_id))[1];
  await here.send(ann, thread_id, '1042.', { reply_to: question?.id });
  await waitUntil(async () => (await there.readTask(bob, theirs.task_id)).state).toBe('completed');
  expect((await here.readTask(ann, task_id)).state).not.toBe('completed');
  const hello = (await there.messages(bob, thread))[0];
  await there.send(bob, thread, 'Hello.', { reply_to: hello?.id });
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
  const story = ['here: Hello?', 'there: Which order?', 'here: 1042.', 'there: Hello.'];
  expect(await readBoth(both, 4)).toEqual([story, story]);
});

test('an answer arrives after a message whose task was removed since', async () => {
  const both = await meet();
  const { ann, bob, thread, thread_id, task_id } = both;
  const hello = (await there.messages(bob, thread))[0];
  await there.send(bob, thread, 'Hello.', { reply_to: hello?.id });
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
  const inSixWeeks = Date.now() + 42 * 24 * 3_600_000;
  expect(await there.core.db.tasks.removeExpired(inSixWeeks, 100)).toBeGreaterThan(0);
  const theirs = await there.ask(bob, { thread_id: thread }, 'Which order?');
  await waitUntil(async () => (await here.messages(ann, thread_id)).length).toBe(3);
  const question = (await here.messages(ann, thread_id))[2];
  await here.send(ann, thread_id, '1042.', { reply_to: question?.id });
  await waitUntil(async () => (await there.readTask(bob, theirs.task_id)).state).toBe('completed');
});

test('receipts are true on both sides', async () => {
  const both = await meet();
  const { ann, bob, remoteAnn, remoteBob, thread, thread_id } = both;
  const marksHere = async () => {
    await here.pass(thread_id);
    return here.marks(ann, thread_id, remoteBob);
  };
  const marksThere = async () => {
    await there.pass(thread);
    return there.marks(bob, thread, remoteAnn);
  };
  const read = (service: Installation, agent: TestAgent, id: string, up_to_sequence: number) =>
    service.post(agent, `/threads/${id}/read`, { up_to_sequence });
  await read(there, bob, thread, 1);
  await waitUntil(marksHere).toMatchObject({ read: 1, handled: 0 });
  await there.send(bob, thread, 'The answer.');
  await there.send(bob, thread, 'And more.');
  await readBoth(both, 3);
  // Only the message of the other side itself.
  expect(await marksThere()).toMatchObject({ read: 1 });
  await read(here, ann, thread_id, 3);
  await waitUntil(marksThere).toMatchObject({ read: 3 });
});

test('receipts are told after a task that was read often, and in an outage, before its end', async () => {
  const both = await meet();
  const { ann, bob, remoteBob, thread, thread_id, task_id } = both;
  await here.sql('update remote_tasks set polls = 100 where thread_id = $1', [thread_id]);
  await there.send(bob, thread, 'The answer.');
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
  lineThere = 503;
  const polls = async () => {
    await here.pass(thread_id);
    const sql = 'select polls from remote_tasks where task_id = $1';
    return (await here.sql<{ polls: number }>(sql, [task_id]))[0]?.polls;
  };
  await waitUntil(polls).toBe(10);
  lineThere = 'pass';
  await there.post(bob, `/threads/${thread}/read`, { up_to_sequence: 2 });
  await waitUntil(async () => {
    await here.pass(thread_id);
    return here.marks(ann, thread_id, remoteBob);
  }).toMatchObject({ read: 1 });
});

test('receipts are told of a message when the one after it was withdrawn before it was sent', async () => {
  const both = await meet();
  const { ann, bob, remoteBob, thread, thread_id } = both;
  await there.send(bob, thread, 'The answer.');
  await readBoth(both, 2);
  lineThere = 503;
  const note = { metadata: { no_reply_expected: true } };
  const { sequence } = await here.send(ann, thread_id, 'Thanks.', note);
  const { id } = await here.send(ann, thread_id, 'A mistake.', note);
  expect((await here.post(ann, `/messages/${id}/withdraw`)).status).toBe(200);
  lineThere = 'pass';
  await waitUntil(async () => (await there.messages(bob, thread)).length).toBe(3);
  await there.post(bob, `/threads/${thread}/read`, { up_to_sequence: 3 });
  await waitUntil(async () => {
    await here.pass(thread_id);
    return here.marks(ann, thread_id, remoteBob);
  }).toMatchObject({ read: sequence });
});

test('receipts are told of a message when the one after it is not read', async () => {
  const both = await meet();
  const { ann, bob, remoteBob, thread, thread_id } = both;
  await there.send(bob, thread, 'The answer.');
  const note = { metadata: { no_reply_expected: true } };
  const { sequence } = await here.send(ann, thread_id, 'Thanks.', note);
  await here.send(ann, thread_id, 'By the way.', note);
  await readBoth(both, 4);
  const thanks = (await there.messages(bob, thread)).find(({ content }) => content === 'Thanks.');
  await there.post(bob, `/threads/${thread}/read`, { up_to_sequence: thanks?.sequence });
  await waitUntil(async () => {
    await here.pass(thread_id);
    return here.marks(ann, thread_id, remoteBob);
  }).toMatchObject({ read: sequence });
});

test('over lines that drop and double requests, all arrives once and in order, in both directions', async () => {
  const both = await meet();
  const { ann, bob, thread, thread_id } = both;
  const count = 6;
  isFaulty = true;
  try {
    for (let at = 0; at < count; at += 1) {
      await Promise.all([here.send(ann, thread_id, `${at}`), there.send(bob, thread, `${at}`)]);
      if (at % 3 === 0) await here.ask(ann, { thread_id }, `${at}?`);
      if (at % 4 === 0) await there.ask(bob, { thread_id: thread }, `${at}?`);
    }
    const arrived = async () => (await there.messages(bob, thread)).length;
    await waitUntil(arrived).toBeGreaterThan(1 + count + 2);
  } finally {
    isFaulty = false;
  }
  const [byAnn, byBob] = await readBoth(both, 1 + 2 * count + 2 + 2);
  for (const who of ['here', 'there'] as const) expect(linesOf(byAnn, who)).toEqual(linesOf(byBob, who));
  expect(linesOf(byAnn, 'here')).toHaveLength(1 + count + 2);
});
