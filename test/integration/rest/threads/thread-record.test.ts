import { beforeAll, expect, test } from 'vitest';
import { requestRest } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();
let ann: TestAgent;
let bob: TestAgent;

beforeAll(async () => {
  [ann, bob] = [await service.agent(), await service.agent()];
});

const send = (method: string, path: string, agent: TestAgent, body?: object) =>
  requestRest(method, `${service.api}${path}`, { token: agent.token, body });

const create = (body: object) => send('POST', '/threads', ann, { with_handle: bob.handle, ...body });

/** The thread as it is in each response and event that shows it to a member. */
async function readEverywhere(id: string, agent: TestAgent): Promise<Record<string, unknown>[]> {
  const [one, list, page] = await Promise.all([
    send('GET', `/threads/${id}`, agent),
    send('GET', '/threads', agent),
    send('GET', '/events?cursor=earliest&limit=100', agent),
  ]);
  const listed = list.body.threads.filter((thread: { id: string }) => thread.id === id);
  const events = page.body.events
    .map(({ data }: { data: { thread?: object } }) => data.thread ?? data)
    .filter((data: { id: string }) => data.id === id);
  return [one.body, ...listed, ...events];
}

test.each([{}, { initial_message: 'Hello' }])('the reason is kept in the thread, with %j', async (first) => {
  const metadata = { ticket: 1042, tags: ['a', null], nested: { é: '世界' } };
  const reason = 'The delivery is late.';
  const created = await create({ ...first, metadata, reason });
  expect(created).toMatchObject({ status: 201, body: { metadata: { ...metadata, reason } } });
  const shown = await readEverywhere(created.body.id, bob);
  expect(shown).toHaveLength(3);
  for (const thread of shown) expect(thread['metadata']).toEqual({ ...metadata, reason });
  const { body } = await send('GET', `/threads/${created.body.id}/messages`, bob);
  expect(body.messages.map((message: { metadata: object }) => message.metadata)).toEqual(
    'initial_message' in first ? [{ reason }] : [],
  );
});

test('metadata stays when the thread changes, and replaces no reason', async () => {
  const { body: thread } = await create({ metadata: { reason: 'first', a: 1 }, reason: 'second' });
  const updated = await send('PATCH', `/threads/${thread.id}`, bob, { subject: 'New' });
  expect(updated.body.metadata).toEqual({ reason: 'second', a: 1 });
  const cat = await service.agent();
  const added = await send('POST', `/threads/${thread.id}/members`, ann, { handle: cat.handle });
  expect(added.body.metadata).toEqual({ reason: 'second', a: 1 });
  for (const shown of await readEverywhere(thread.id, ann)) {
    expect(shown['metadata']).toEqual({ reason: 'second', a: 1 });
  }
});

test.each<[string, object]>([
  ['a text', { metadata: 'late' }],
  ['a list', { metadata: [1] }],
  ['more than 4 KiB', { metadata: { a: 'é'.repeat(2_100) } }],
  ['more than 4 KiB with the reason', { metadata: { a: 'x'.repeat(3_700) }, reason: 'y'.repeat(500) }],
])('metadata that is %s is refused', async (_, body) => {
  const { status, body: refusal } = await create(body);
  expect([status, refusal.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(refusal.error.details).toMatchObject([{ field: 'metadata' }]);
});

test('created_by is the handle in every response and event, with the id beside it', async () => {
  const { body: thread } = await create({ initial_message: 'Hello' });
  const cat = await service.agent();
  await send('PATCH', `/threads/${thread.id}`, bob, { subject: 'New' });
  await send('POST', `/threads/${thread.id}/members`, bob, { handle: cat.handle });
  await send('DELETE', `/threads/${thread.id}/members/${ann.id}`, ann);
  await send('PATCH', `/threads/${thread.id}`, bob, { status: 'closed' });
  const shown = [thread, ...(await readEverywhere(thread.id, bob))];
  // The response, the thread alone and in a list, and events: created, updated twice, a member added and one removed.
  expect(shown).toHaveLength(8);
  for (const { created_by, created_by_id } of shown) {
    expect([created_by, created_by_id]).toEqual([ann.handle, ann.id]);
  }
});
