import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { a2aAddress } from '../../clients/a2a.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type ProxyAction, startHttpProxy } from '../../support/servers/http-proxy.ts';
import type { TestAgent } from '../../support/service.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { type AddedRemote, type Installation, startInstallation, storyOf } from './setup.ts';

/** How the proxy in front of an installation treats each request. */
const lines = { here: 'pass' as ProxyAction | 'random', there: 'pass' as ProxyAction | 'random' };
const faults: readonly ProxyAction[] = ['pass', 'pass', 'cut', 'unanswered', 'double', 503];

/** Requests of A2A only: the tests themselves use the addresses behind the proxy. */
const decide = (line: 'here' | 'there') => (): ProxyAction => {
  const action = lines[line];
  return action === 'random' ? (faults[Math.floor(Math.random() * faults.length)] ?? 'pass') : action;
};

type Proxy = Awaited<ReturnType<typeof startHttpProxy>>;
let here: Installation;
let there: Installation;
const proxies: Proxy[] = [];

const manyAttempts = Array<number>(60).fill(20);

async function startBehindProxy(line: 'here' | 'there'): Promise<Installation> {
  const port = await findFreePort();
  const proxy = await startHttpProxy(`http://127.0.0.1:${port}`, decide(line));
  proxies.push(proxy);
  return startInstallation({
    port,
    env: { PUBLIC_URL: proxy.url },
    pacing: { scheduleMs: manyAttempts, remoteScheduleMs: manyAttempts },
  });
}

beforeAll(async () => {
  here = await startBehindProxy('here');
  there = await startBehindProxy('there');
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

/** An agent here that can ask an agent there, with another agent there as its principal. */
async function meet(policy: 'open' | 'contacts_only' = 'open') {
  const [ann, bob, principal] = [
    await here.agent(),
    await there.agent({ inbound_policy: policy }),
    await there.agent({ scopes: ['threads:read', 'threads:write'] }),
  ];
  const card_url = `${a2aAddress(there.core.config.PUBLIC_URL, bob.handle)}/.well-known/agent-card.json`;
  const remote = await here.addRemote(ann, {
    card_url,
    credential: { kind: 'bearer', token: principal.token },
  });
  return { ann, bob, principal, remote };
}

/** The agent there gets all its events, so that its messages count as delivered. */
async function readFeed(agent: TestAgent): Promise<void> {
  for (let cursor = ''; ;) {
    const { body } = await there.get(agent, `/events?limit=100${cursor}`);
    if (body.complete) return;
    cursor = `&cursor=${encodeURIComponent(body.cursor)}`;
  }
}

/** The thread of the principal there. */
async function threadOf(principal: TestAgent): Promise<string> {
  const threads = async () => (await there.get(principal, '/threads')).body.threads;
  await waitUntil(async () => (await threads()).length).toBe(1);
  return (await threads())[0].id;
}

test('an agent asks an agent of another installation, which answers there', async () => {
  const { ann, bob, principal, remote } = await meet();
  const sent = await here.ask(ann, remote, 'When does it arrive?');
  const thread = await threadOf(principal);
  const [question] = await there.messages(bob, thread);
  expect(question).toMatchObject({ content: 'When does it arrive?', sender: { id: principal.id } });
  await there.send(bob, thread, 'Tomorrow.');
  await waitUntil(async () => (await here.readTask(ann, sent.task_id)).state).toBe('completed');
  const messages = await here.messages(ann, sent.thread_id);
  expect(storyOf(messages, ann)).toEqual(['here: When does it arrive?', 'there: Tomorrow.']);
  expect(messages[1]).toMatchObject({ sender: { id: remote.id }, reply_to: sent.message_id });
});

test('the asked agent reports, asks back, and completes with a result', async () => {
  const { ann, bob, principal, remote } = await meet();
  const { thread_id, task_id } = await here.ask(ann, remote, 'When does it arrive?');
  const thread = await threadOf(principal);
  const [{ id: theirs }] = (await there.get(bob, '/tasks?role=asked')).body.tasks;
  const report = async (body: object) => {
    const { status, text } = await there.post(bob, `/tasks/${theirs}/update`, body);
    expect(status, text).toBe(200);
  };
  await report({ state: 'working', message: 'I look into it.' });
  await report({ state: 'input_required', message: 'Which order?' });
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('input_required');
  await here.send(ann, thread_id, '1042');
  await waitUntil(async () => (await there.messages(bob, thread)).length).toBe(4);
  await report({ state: 'completed', message: 'Friday.', artifact: true });
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
  const story = [
    'here: When does it arrive?',
    'there: I look into it.',
    'there: Which order?',
    'here: 1042',
    'there: Friday.',
  ];
  expect(storyOf(await here.messages(ann, thread_id), ann)).toEqual(story);
  expect(storyOf(await there.messages(bob, thread), principal)).toEqual(story);
});

test('receipts are those of the other installation', async () => {
  const { ann, bob, principal, remote } = await meet();
  const { thread_id, task_id } = await here.ask(ann, remote, 'When does it arrive?');
  const thread = await threadOf(principal);
  const marks = async () => {
    await here.pass(thread_id);
    return here.marks(ann, thread_id, remote);
  };
  await waitUntil(async () => (await here.readTask(ann, task_id)).delivery).toBe('stored');
  expect(await marks()).toEqual({ delivered: 0, read: 0, handled: 0 });
  // The asked agent gets the message.
  await readFeed(bob);
  await waitUntil(marks).toEqual({ delivered: 1, read: 0, handled: 0 });
  const read = await there.post(bob, `/threads/${thread}/read`, { up_to_sequence: 1 });
  expect(read.status, read.text).toBeLessThan(300);
  await waitUntil(marks).toEqual({ delivered: 1, read: 1, handled: 0 });
  expect((await here.readTask(ann, task_id)).delivery).toBe('read');
  await there.send(bob, thread, 'Tomorrow.');
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
});

test('a refusal of the other installation is told with its code', async () => {
  const { ann, remote } = await meet('contacts_only');
  const events = await here.follow(ann, 'message.undeliverable');
  const { task_id, message_id } = await here.ask(ann, remote, 'When does it arrive?');
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('failed');
  expect(await events()).toMatchObject([
    {
      message_id,
      outcome: 'undeliverable',
      // Its advice is for the other side, whose words it is.
      error: { code: 'NOT_CONTACTS', message: expect.stringMatching(/^The other side answered: .+\.$/) },
    },
  ]);
});

test('messages that expect no reply leave no open task at the other installation', async () => {
  const { ann, bob, principal, remote } = await meet();
  const thread_id = await here.thread(ann, remote);
  await here.send(ann, thread_id, 'Thanks.', { metadata: { no_reply_expected: true } });
  const thread = await threadOf(principal);
  expect(storyOf(await there.messages(bob, thread), principal)).toEqual(['here: Thanks.']);
  const { tasks } = (await there.get(bob, '/tasks?role=asked')).body;
  expect(tasks.filter(({ state }: { state: string }) => state === 'submitted')).toEqual([]);
});

test('a canceled task is canceled at the other installation', async () => {
  const { ann, bob, principal, remote } = await meet();
  const { task_id } = await here.ask(ann, remote, 'When does it arrive?');
  await threadOf(principal);
  await here.post(ann, `/tasks/${task_id}/cancel`);
  const stateThere = async () => (await there.get(bob, '/tasks?role=asked')).body.tasks[0].state;
  await waitUntil(stateThere).toBe('canceled');
});

describe('over a line that drops and doubles requests', () => {
  const count = 15;
  const texts = Array.from({ length: count }, (_, index) => `Question ${index}`);

  /** An agent there that answers each question once, after it counts as delivered. */
  async function answerAll(bob: TestAgent, thread: string, principal: TestAgent): Promise<void> {
    const answered = new Set<string>();
    await waitUntil(async () => {
      await readFeed(bob);
      const { delivered } = await there.marks(bob, thread, bob);
      for (const { id, content, sender, sequence } of await there.messages(bob, thread)) {
        if (sender.id !== principal.id || answered.has(id) || sequence > delivered) continue;
        answered.add(id);
        await there.send(bob, thread, `Answer to ${content}`, { reply_to: id });
      }
      return answered.size;
    }).toBe(count);
  }

  async function ask(ann: TestAgent, remote: AddedRemote): Promise<string> {
    const { thread_id } = await here.ask(ann, remote, texts[0] ?? '');
    for (const text of texts.slice(1)) await here.ask(ann, { thread_id }, text);
    return thread_id;
  }

  test.each([
    { name: 'to the other side', faulty: 'there' as const },
    { name: 'of callbacks', faulty: 'here' as const },
  ])('$name, each message arrives once and in order', async ({ faulty }) => {
    const { ann, bob, principal, remote } = await meet();
    lines[faulty] = 'random';
    try {
      const thread_id = await ask(ann, remote);
      const thread = await threadOf(principal);
      await answerAll(bob, thread, principal);
      const sent = (await there.messages(bob, thread)).filter(({ sender }) => sender.id === principal.id);
      expect(sent.map(({ content }) => content)).toEqual(texts);
      const answers = async () => {
        await here.pass(thread_id);
        return storyOf(await here.messages(ann, thread_id), ann).filter((line) => line.startsWith('there'));
      };
      await waitUntil(async () => (await answers()).length).toBe(count);
      expect((await answers()).sort()).toEqual(texts.map((text) => `there: Answer to ${text}`).sort());
      const questions = (await here.messages(ann, thread_id)).filter(({ sender }) => sender.id === ann.id);
      const isDelivered = async () =>
        (await here.marks(ann, thread_id, remote)).delivered >= (questions.at(-1)?.sequence ?? 0);
      await waitUntil(async () => {
        await here.pass(thread_id);
        return isDelivered();
      }).toBe(true);
    } finally {
      lines[faulty] = 'pass';
    }
  });
});
