import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { followFeed } from '../../clients/feed.ts';
import { outcomeOf } from '../../clients/rest.ts';
import { useSharedService } from '../../support/service.ts';
import { startWork } from '../inbox/setup.ts';

const service = useSharedService();

async function talk() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread = await service.thread(ann, bob);
  const path = `/threads/${thread}/messages`;
  const send = (content: string, replaces?: string, from = ann, more: object = {}) =>
    service.post(from, path, { content, replaces, ...more });
  const list = async () => (await service.get(bob, `${path}?order=asc`)).body.messages;
  return { ann, bob, thread, path, send, list };
}

test('a message that replaces another one names it, and the old one shows which one took its place', async () => {
  const { bob, ann, send, list } = await talk();
  const feed = await followFeed(service.api, bob.token);
  const { body: old } = await send('at 3');
  const replaced = await send('at 4', old.id);
  expect(replaced).toMatchObject({ status: 201, body: { content: 'at 4', sequence: 2, replaces: old.id } });
  expect(await list()).toEqual([{ ...old, replaced_by: replaced.body.id }, replaced.body]);
  const events = await feed();
  // Also an event that was in memory before shows it.
  expect(events.map(({ data }) => data)).toEqual([{ ...old, replaced_by: replaced.body.id }, replaced.body]);
  const gone = await service.post(ann, `/messages/${old.id}/withdraw`);
  expect(gone.body).toMatchObject({ content: '', replaced_by: replaced.body.id });
});

test('only an own message of the thread that is neither withdrawn nor replaced can be replaced', async () => {
  const { ann, bob, thread, path, send, list } = await talk();
  const other = await talk();
  const elsewhere = await other.send('elsewhere');
  const foreign = await send('of bob', undefined, bob);
  const [gone, old, last] = [await send('gone'), await send('old'), await send('last')];
  await service.post(ann, `/messages/${gone.body.id}/withdraw`);
  const current = await send('new', old.body.id);
  const before = await list();
  const refusals = await Promise.all(
    [elsewhere.body.id, 'msg_01ARZ3NDEKTSV4RRFFQ69G5FAV', foreign.body.id, gone.body.id, old.body.id].map(
      (id) => send('x', id),
    ),
  );
  expect(refusals.map(outcomeOf)).toEqual([
    '404 MESSAGE_NOT_FOUND',
    '404 MESSAGE_NOT_FOUND',
    '403 FORBIDDEN',
    '409 INVALID_TRANSITION',
    '409 INVALID_TRANSITION',
  ]);
  expect(refusals[0]?.body.error.message).toBe(refusals[1]?.body.error.message);
  expect(refusals[4]?.body.error.message).toContain(current.body.id);
  await service.patch(ann, `/threads/${thread}`, { status: 'closed' });
  expect(outcomeOf(await send('x', last.body.id))).toBe('403 THREAD_CLOSED');
  await service.patch(ann, `/threads/${thread}`, { status: 'active' });
  expect(await list()).toEqual(before);
  // In a batch each message has its own result.
  const messages = ['a', 'b'].map((content) => ({ content, replaces: last.body.id }));
  const { results } = (await service.post(ann, `${path}:batch`, { messages })).body;
  expect(results).toMatchObject([
    { status: 201, message: { replaces: last.body.id } },
    { status: 409, error: { code: 'INVALID_TRANSITION' } },
  ]);
});

test('of two sends that replace one message at the same time one is sent', async () => {
  const { send, list } = await talk();
  const { body: old } = await send('old');
  const sent = await Promise.all(['a', 'b', 'c'].map((content) => send(content, old.id)));
  expect(sent.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  expect(await list()).toHaveLength(2);
});

test('a repeated send has the same key, and replaces once', async () => {
  const { ann, path, send, list } = await talk();
  const { body: old } = await send('old');
  const key = randomUUID();
  const replace = () => service.post(ann, path, { content: 'new', replaces: old.id }, { key });
  const [first, second] = [await replace(), await replace()];
  expect([second.status, second.body]).toEqual([201, first.body]);
  expect(await list()).toHaveLength(2);
});

test('a claim skips a replaced message, and nothing shows that it was handled', async () => {
  const { asker, worker, inbox, send, thread } = await startWork(service);
  const old = await send('old');
  const leased = await send('leased later');
  const path = `/threads/${thread}/messages`;
  const replace = async (content: string, id: string) =>
    (await service.post(asker, path, { content, replaces: id })).body;
  const first = await replace('new', old.id);
  const leases = await inbox.leases();
  expect(leases.map(({ event }) => event.data.id)).toEqual([leased.id]);
  const second = await replace('newer', leased.id);
  expect((await inbox.release(leases[0]?.id ?? '')).status).toBe(200);
  const rest = await inbox.leases();
  expect(rest.map(({ event }) => event.data.id)).toEqual([first.id]);
  const marks = async () => {
    const { body } = await service.get(asker, `/threads/${thread}/receipts`);
    const receipt = body.receipts.find(({ agent }: { agent: { id: string } }) => agent.id === worker.id);
    return receipt.handled_up_to_sequence;
  };
  expect(await marks()).toBe(0);
  await inbox.acknowledge(rest[0]?.id ?? '');
  const [last] = await inbox.leases();
  expect(last?.event.data.id).toBe(second.id);
});

test('a replaced question keeps its task: the new message asks, and its answer completes the task', async () => {
  const { asker, worker, inbox, thread } = await startWork(service);
  const ask = await service.post(asker, `/threads/${thread}/ask`, { content: 'At 3?', wait_seconds: 0 });
  const { id } = ask.body.task;
  const feed = await followFeed(service.api, worker.token);
  const { body: sent } = await service.post(asker, `/threads/${thread}/messages`, {
    content: 'At 4?',
    replaces: ask.body.message.id,
  });
  expect(await feed()).toMatchObject([
    { type: 'message.created', data: { id: sent.id, replaces: ask.body.message.id } },
    { type: 'task.updated', data: { task: { id, message_id: sent.id, state: 'submitted', generation: 2 } } },
  ]);
  const [lease] = await inbox.leases({ max: 10 });
  expect(lease).toMatchObject({ event: { data: { id: sent.id } }, task_note: expect.stringContaining(id) });
  expect((await service.get(asker, `/tasks/${id}`)).body).toMatchObject({
    state: 'working',
    message_id: sent.id,
  });
  await inbox.acknowledge(lease?.id ?? '', { reply: 'At 4.' });
  const task = (await service.get(asker, `/tasks/${id}`)).body;
  expect(task).toMatchObject({ state: 'completed' });
  expect(task.messages.map(({ content }: { content: string }) => content)).toEqual([
    'At 3?',
    'At 4?',
    'At 4.',
  ]);
});

test('a corrected note of the asked agent belongs to its task, and does not complete it', async () => {
  const { ann, bob, thread, send } = await talk();
  const ask = await service.post(ann, `/threads/${thread}/ask`, { content: 'When?', wait_seconds: 0 });
  const { id } = ask.body.task;
  await service.post(bob, `/tasks/${id}/update`, { state: 'working', message: 'Half dnoe.' });
  const note = (await service.get(ann, `/tasks/${id}`)).body.messages[1];
  expect((await send('Half done.', note.id, bob)).status).toBe(201);
  const task = (await service.get(ann, `/tasks/${id}`)).body;
  expect([task.state, task.messages.length, task.messages[1].replaced_by]).toEqual([
    'working',
    3,
    task.messages[2].id,
  ]);
});
