import { expect, test, vi } from 'vitest';
import { a2aAddress, createA2aClient, toA2aMessage } from '../../clients/a2a.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import type { TestAgent } from '../../support/service.ts';
import { use } from '../../support/use.ts';
import {
  fetchContent,
  listFiles,
  startAttachmentService,
  uploadId,
  waitForScan,
} from '../attachments/setup.ts';
import { connectModel } from '../inbox/setup.ts';

const service = use(() => startAttachmentService({ env: { A2A_WAIT_SECONDS: '1' } }));

const withdraw = (agent: Pick<TestAgent, 'token'>, id: string) =>
  service.post(agent, `/messages/${id}/withdraw`);

const waitFor = (check: () => Promise<unknown>) => vi.waitFor(check, { timeout: 20_000, interval: 20 });

const jobsDone = () => waitFor(async () => expect(await service.sql('select job from outbox')).toEqual([]));

/** The tables with a row that has a text in one of its columns. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await service.sql<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await service.sql(`select from ${name} r where r::text ilike '%' || $1 || '%' limit 1`, [
      text,
    ]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

async function pair(): Promise<[TestAgent, TestAgent, thread: string]> {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  return [ann, bob, await service.thread(ann, bob)];
}

test('nothing of a withdrawn message with files stays in the database or in the store of files', async () => {
  const [ann, bob, thread] = await pair();
  const before = await listFiles(service);
  const file = await uploadId(service, ann, {
    name: 'walnutfile.txt',
    bytes: Buffer.from('walnutbytes '.repeat(99)),
  });
  await waitForScan(service, ann, file);
  const sent = await service.post(ann, `/threads/${thread}/ask`, {
    content: 'walnuttext?',
    metadata: { note: 'walnutmeta' },
    attachment_ids: [file],
    wait_seconds: 0,
  });
  expect(sent.status).toBe(201);
  await jobsDone();
  const find = (q: string) => service.get(bob, `/messages/search?q=${q}`);
  expect((await find('walnuttext')).body.results).toHaveLength(1);
  expect((await tablesWith('walnut')).length).toBeGreaterThan(4);
  expect((await withdraw(ann, sent.body.message.id)).status).toBe(200);
  expect((await find('walnuttext')).body.results).toEqual([]);
  for (const agent of [ann, bob]) expect((await service.get(agent, `/attachments/${file}`)).status).toBe(404);
  await jobsDone();
  expect(await tablesWith('walnut')).toEqual([]);
  expect(await listFiles(service)).toEqual(before);
});

test('files of another message stay', async () => {
  const [ann, bob, thread] = await pair();
  const [one, two] = [await uploadId(service, ann), await uploadId(service, ann)];
  await waitForScan(service, ann, two);
  const send = (id: string) =>
    service.post(ann, `/threads/${thread}/messages`, { content: 'x', attachment_ids: [id] });
  const [first, second] = [await send(one), await send(two)];
  await withdraw(ann, first.body.id);
  await jobsDone();
  expect((await fetchContent(service, bob, two)).status).toBe(200);
  expect((await service.get(bob, `/threads/${thread}/messages`)).body.messages[0]).toEqual({
    ...second.body,
    attachments: [expect.objectContaining({ id: two, scan_status: 'clean' })],
  });
});

test('a process that dies after the commit loses nothing: the removal runs again', async () => {
  const [ann, , thread] = await pair();
  const file = await uploadId(service, ann);
  const before = await listFiles(service);
  const sent = await service.post(ann, `/threads/${thread}/messages`, {
    content: 'x',
    attachment_ids: [file],
  });
  await withdraw(ann, sent.body.id);
  await jobsDone();
  // As after a kill between the commit and the job, and between the lines of the job.
  await service.sql(
    `insert into message_search (message_id, thread_id, sender_id, document, version, created_at, indexed_at)
     values ($1, $2, $3, to_tsvector('simple', 'walnutlate'), 1, 1, 1)`,
    [sent.body.id, thread, ann.id],
  );
  await service.sql(
    `insert into outbox (job, subject_id, due_at, created_at) values ('withdraw-message', $1, 1, 1)`,
    [sent.body.id],
  );
  await jobsDone();
  expect(await tablesWith('walnutlate')).toEqual([]);
  expect(await listFiles(service)).toHaveLength(before.length - 1);
});

test('over WebSocket and MCP: the call, the live event, and a replay from an older cursor', async () => {
  const [ann, bob, thread] = await pair();
  const [by, to] = await Promise.all(
    [ann, bob].map(({ token }) => connectWebSocket(service.url, { token, cursor: 'latest' })),
  );
  if (!by || !to) throw new Error('no connection');
  const { body: sent } = await service.post(ann, `/threads/${thread}/messages`, { content: 'walnutws' });
  const live = await to.next(({ type }) => type === 'message.created');
  expect(live.data).toEqual(sent);
  by.send({ type: 'call', id: '1', operation: 'withdraw_message', input: { message_id: sent.id } });
  const result = await by.next(({ type }) => type === 'result');
  expect(result).toMatchObject({ status: 200, output: { id: sent.id, content: '' } });
  expect((await to.next(({ type }) => type === 'message.withdrawn')).data).toMatchObject({
    message_id: sent.id,
    sequence: 1,
  });
  const late = await connectWebSocket(service.url, { token: bob.token, cursor: to.ready.cursor });
  const replayed = await late.next(({ type }) => type === 'message.created');
  expect(replayed.data).toMatchObject({ id: sent.id, content: '', withdrawn_at: expect.any(Number) });
  await Promise.all([by, to, late].map((client) => client.close()));

  const model = await connectModel(service, bob);
  const shown = await model.tool('get_thread', { thread_id: thread });
  expect(shown.value.messages[0]).toMatchObject({
    id: sent.id,
    content: '',
    withdrawn_at: expect.any(Number),
  });
  await model.close();
});

test('over A2A: a withdrawn answer stays an artifact that says so, and a withdrawn question cancels its task', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const client = createA2aClient('JSONRPC', a2aAddress(service.url, bob.handle), ann.token);
  const now = { configuration: { returnImmediately: true } };
  const question = toA2aMessage('walnutquestion?', { metadata: { hidden: 'walnutmeta' } });
  const { id, contextId } = (await client.call('SendMessage', { message: question, ...now })).result.task;
  const path = `/threads/${contextId}/messages`;
  const answer = await service.post(bob, path, { content: 'walnutanswer' });
  expect((await withdraw(bob, answer.body.id)).status).toBe(200);
  const gone = [{ text: 'This message was withdrawn by its sender.', mediaType: 'text/plain' }];
  const ended = (await client.call('GetTask', { id })).result;
  expect(ended.status.state).toBe('TASK_STATE_COMPLETED');
  expect(ended.artifacts).toEqual([{ artifactId: answer.body.id, parts: gone }]);

  const second = toA2aMessage('walnutquestion two?', { contextId });
  const open = (await client.call('SendMessage', { message: second, ...now })).result.task;
  const { body } = await service.get(ann, `${path}?order=asc`);
  const questions = body.messages.filter(({ content }: { content: string }) =>
    content.startsWith('walnutquestion'),
  );
  for (const message of questions) expect((await withdraw(ann, message.id)).status).toBe(200);
  const canceled = (await client.call('GetTask', { id: open.id })).result;
  expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
  expect(canceled.history).toEqual([
    { messageId: second.messageId, contextId, taskId: open.id, role: 'ROLE_USER', parts: gone },
  ]);
  // A repeated message finds its task, and does not bring the text back.
  const repeated = await client.call('SendMessage', { message: question, ...now });
  expect(repeated.result.task).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
  await jobsDone();
  expect(await tablesWith('walnut')).toEqual([]);
});

test('a later export has the withdrawn form', async () => {
  const [ann, bob, thread] = await pair();
  const { body: sent } = await service.post(ann, `/threads/${thread}/messages`, { content: 'walnutexport' });
  const read = () => service.read(({ db }) => db.agentExport.messages(bob.id, thread, 0, 10));
  expect(await read()).toEqual([expect.objectContaining({ content: 'walnutexport', withdrawn_at: null })]);
  await withdraw(ann, sent.id);
  expect(await read()).toEqual([
    expect.objectContaining({ id: sent.id, content: '', withdrawn_at: expect.any(Number) }),
  ]);
});
