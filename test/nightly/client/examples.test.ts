import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDelivery } from '../../../packages/client/src/main.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { buildAgent, issueTokenFor } from '../../support/service.ts';
import { installPackage } from '../../integration/client/installed-package.ts';
import { startModel } from '../../integration/client/model-server.ts';
import { clientOf } from '../../integration/client/setup.ts';
import { use } from '../../support/use.ts';

const installed = use(installPackage);
const service = use(() => startServiceOnFixedPort({ WEBHOOK_NETWORKS: '127.0.0.0/8' }));

const folder = resolve(import.meta.dirname, '../../../examples');
const countCode = (program: string) =>
  program.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//')).length;
const countLines = (name: string) => countCode(readFileSync(join(folder, name), 'utf8'));

/** Two agents, and how the examples sign in as them. */
async function startAgents() {
  const [ada, bob] = await Promise.all([buildAgent(service.core), buildAgent(service.core)]);
  const envOf = ({ token }: { token: string }) => ({ AMS_URL: service.url, AMS_TOKEN: token });
  return { ada, bob, asAda: clientOf(service, ada), adaEnv: envOf(ada), bobEnv: envOf(bob) };
}

async function start(name: string, env: Record<string, string>, ...args: string[]) {
  const program = await installed.startExample(name, env, ...args);
  onTestFinished(() => program.kill9());
  return program;
}

test('are short', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
  for (const name of names) expect(countLines(name), name).toBeLessThanOrEqual(40);
  expect(countLines('first-event.mjs')).toBeLessThanOrEqual(10);
  expect(countLines('ask.mjs') + countLines('answer.mjs')).toBeLessThanOrEqual(18);
  for (const page of ['docs/quick-start.md', 'packages/client/README.md']) {
    const text = readFileSync(join(folder, '..', page), 'utf8');
    const [, program = ''] = text.match(/```js\n([^`]*client\.events\([^`]*)```/) ?? [];
    expect(countCode(program), page).toBeLessThanOrEqual(10);
    expect(program, page).toContain("event.type === 'message.created'");
  }
});

test('first-event prints messages', async () => {
  const { ada, bob, asAda, bobEnv } = await startAgents();
  const program = await start('first-event', bobEnv);
  await asAda.threads.create({ with_handle: bob.handle, initial_message: 'Hello' });
  const line = `${ada.handle} Hello\n`;
  await expect.poll(() => program.output).toEqual({ text: line, errors: '' });
});

test('ai-sdk-agent answers waiting messages with the MCP tools', async () => {
  const { bob, asAda } = await startAgents();
  const token = await issueTokenFor(service.core, bob.handle, { audience: 'mcp' });
  const initial_message = 'Is it ready?';
  const { id: thread_id } = await asAda.threads.create({ with_handle: bob.handle, initial_message });
  const model = await startModel([
    () => ({ tool: 'list_threads', input: { unread: true } }),
    (result) => {
      const content = `Answer to ${result.includes(thread_id)}`;
      return { tool: 'send_message', input: { thread_id, content, idempotency_key: 'answer-1' } };
    },
    () => ({ text: 'I answered one message.' }),
  ]);
  const env = { AMS_URL: service.url, AMS_TOKEN: token, MODEL_URL: model.url, MODEL_NAME: 'stand-in' };
  const program = await start('ai-sdk-agent', { ...env, MODEL_KEY: 'key' });
  await program.closed;
  expect(program.output).toEqual({ text: 'I answered one message.\n', errors: '' });
  const { messages } = await asAda.messages.list({ thread_id, order: 'asc' }).page();
  expect(messages.map(({ content }) => content)).toEqual(['Is it ready?', 'Answer to true']);
});

test('webhook-receiver accepts only requests signed by the service or the test helper', async () => {
  const { bob, asAda } = await startAgents();
  const token = await issueTokenFor(service.core, bob.handle, { scopes: ['agents:write', 'threads:read'] });
  const asManager = clientOf(service, { token });
  // Without a receiver yet: the secret comes first.
  const webhook = await asManager.webhooks.create({
    url: 'http://127.0.0.1:9/',
    event_types: ['message.created'],
  });
  const program = await start('webhook-receiver', { WEBHOOK_SECRET: webhook.secret, PORT: '0' });
  await expect.poll(() => program.output.text).toMatch(/listening on \d+/);
  const url = `http://127.0.0.1:${program.output.text.match(/\d+/)?.[0]}/`;
  await asManager.webhooks.update({ webhook_id: webhook.id, url });
  await asAda.threads.create({ with_handle: bob.handle, initial_message: 'By webhook' });
  await expect.poll(() => program.output.text).toContain('"content":"By webhook"');

  const event = {
    type: 'agent.updated',
    id: 'evt_1',
    cursor: '1',
    created_at: 1,
    data: {} as never,
  } as const;
  const { headers, body } = await createTestDelivery(event, webhook.secret);
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(204);
  expect((await fetch(url, { method: 'POST', headers, body: `${body} ` })).status).toBe(400);
});

test('ask and answer survive kill -9: one question, one answer', async () => {
  const { bob, asAda, adaEnv, bobEnv } = await startAgents();
  const question = [bob.handle, 'Is it ready?', 'question-1'] as const;
  const first = await start('ask', adaEnv, ...question);
  const countThreads = async () => (await asAda.threads.list().page()).threads.length;
  await expect.poll(countThreads).toBe(1);
  await first.kill9();
  const second = await start('ask', adaEnv, ...question);
  await (await start('answer', bobEnv)).kill9();
  const answering = await start('answer', bobEnv);
  await second.closed;
  expect(second.output).toEqual({ text: 'You wrote: Is it ready?\n', errors: '' });
  await answering.kill9();
  // It resumes after the question, or answers it again under the same key.
  await start('answer', bobEnv);
  const [thread] = (await asAda.threads.list().page()).threads;
  await asAda.messages.send({ thread_id: thread?.id ?? '', content: 'Thanks' });
  const contents = async () => {
    const all: string[] = [];
    const messages = asAda.messages.list({ thread_id: thread?.id ?? '', order: 'asc' });
    for await (const { content } of messages) all.push(content);
    return all;
  };
  const expected = ['Is it ready?', 'You wrote: Is it ready?', 'Thanks', 'You wrote: Thanks'];
  await expect.poll(contents).toEqual(expected);
});

test('task-ask and task-work survive kill -9: one task, one question back, one answer', async () => {
  const { bob, asAda, adaEnv, bobEnv } = await startAgents();
  const args = [bob.handle, 'Is it on its way?', 'task-1'] as const;
  const env = { ...adaEnv, ANSWER: '1042' };
  const first = await start('task-ask', env, ...args);
  const tasks = async () => (await asAda.tasks.list().page()).tasks.map(({ state }) => state);
  await expect.poll(tasks).toEqual(['submitted']);
  await first.kill9();
  const worker = await start('task-work', bobEnv);
  await expect.poll(tasks).toEqual(['input_required']);
  await worker.kill9();
  const second = await start('task-ask', env, ...args);
  await expect.poll(tasks).toEqual(['working']);
  await start('task-work', bobEnv);
  await second.closed;
  expect(second.output).toEqual({ text: 'completed: Order 1042 is on its way.\n', errors: '' });
  const [task] = (await asAda.tasks.list().page()).tasks;
  const { messages } = await asAda.tasks.get({ task_id: task?.id ?? '' });
  expect(messages.map(({ content }) => content)).toEqual([
    'Is it on its way?',
    'I look into it.',
    'Which order is it about?',
    '1042',
    'Order 1042 is on its way.',
  ]);
});

test('resume does the work for each message once, despite kill -9', async () => {
  const { bob, asAda, bobEnv } = await startAgents();
  const { id: thread_id } = await asAda.threads.create({ with_handle: bob.handle });
  const done = async (work: string) => {
    const text = await readFile(join(work, 'work.log'), 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => line.split(' ').slice(1));
  };
  for (let run = 1; run <= 4; run += 1) {
    const program = await start('resume', bobEnv);
    const sent = Array.from({ length: 10 * run }, (_, index) => String(index + 1));
    for (const content of sent.slice(-10)) await asAda.messages.send({ thread_id, content });
    const enough = run === 4 ? 40 : 10 * run - 5;
    const count = async () => (await done(program.folder)).length;
    await expect.poll(count, { interval: 5 }).toBeGreaterThanOrEqual(enough);
    await program.kill9();
    expect(sent.slice(0, await count())).toEqual(await done(program.folder));
  }
});

test('three workers answer each message once, although one is killed', async () => {
  const { bob, asAda, bobEnv } = await startAgents();
  const asBob = clientOf(service, bob);
  await asBob.inbox.set();
  const env = { ...bobEnv, LEASE_SECONDS: '5' };
  const workers = await Promise.all([1, 2, 3].map(() => start('worker', env)));
  const threads: string[] = [];
  for (let number = 1; number <= 30; number += 1) {
    const initial_message = String(number);
    threads.push((await asAda.threads.create({ with_handle: bob.handle, initial_message })).id);
    if (number === 10) await workers[0]?.kill9();
  }
  const counts = () =>
    Promise.all(threads.map(async (thread_id) => (await asAda.threads.get({ thread_id })).last_sequence));
  await expect.poll(counts).toEqual(threads.map(() => 2));
  expect(await asBob.inbox.get()).toMatchObject({ ready: 0, leased: 0, dead: 0 });
  // SIGTERM ends the others when they have finished.
  for (const worker of workers.slice(1)) expect(await worker.terminate()).toEqual([0, null]);
});
