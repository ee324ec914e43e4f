import { expect, test } from 'vitest';
import { followFeed } from '../../../clients/feed.ts';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();

async function thread(creator: TestAgent, ...others: TestAgent[]) {
  const participants = others.map(({ handle }) => handle);
  const created = await service.post(creator, '/threads', { participants });
  expect(created.status).toBe(201);
  return { id: String(created.body.id), url: `${service.api}/threads/${created.body.id}` };
}

const ref = ({ id, handle }: TestAgent) => ({ id, canonical_handle: handle });
const send = (url: string, { token }: TestAgent, content = 'x') =>
  requestRest('POST', `${url}/messages`, { token, body: { content } });
const add = (url: string, { token }: TestAgent, handle: string) =>
  requestRest('POST', `${url}/members`, { token, body: { handle } });
const remove = (url: string, { token }: TestAgent, member: string) =>
  requestRest('DELETE', `${url}/members/${encodeURIComponent(member)}`, { token });
const read = (url: string, { token }: TestAgent, up_to_sequence: number) =>
  requestRest('POST', `${url}/read`, { token, body: { up_to_sequence } });

test('a new member reads the history and has nothing unread, and all members get an event', async () => {
  const [ann, bob, cleo] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  const { id, url } = await thread(ann, bob);
  await send(url, ann, 'before');
  const feeds = await Promise.all([ann, bob, cleo].map(({ token }) => followFeed(service.api, token)));
  expect((await requestRest('GET', url, { token: cleo.token })).body.error.code).toBe('THREAD_NOT_FOUND');

  const added = await add(url, bob, `@${cleo.handle.toUpperCase()}`);
  expect([added.status, added.headers.get('location')]).toEqual([
    201,
    `http://localhost:3000/v1/threads/${id}`,
  ]);
  expect(added.body.members).toEqual([ref(ann), ref(bob), ref(cleo)]);
  const seen = await requestRest('GET', url, { token: cleo.token });
  expect([seen.status, seen.body.unread_count, seen.body.last_sequence]).toEqual([200, 0, 1]);
  const history = await requestRest('GET', `${url}/messages`, { token: cleo.token });
  expect(history.body.messages.map(({ content }: { content: string }) => content)).toEqual(['before']);

  expect((await add(url, ann, cleo.id)).body.members).toHaveLength(3);
  await send(url, cleo, 'after');
  for (const feed of feeds) {
    const events = await feed();
    expect(events.map(({ type }) => type)).toEqual(['thread.member_added', 'message.created']);
    expect(events[0]?.data).toMatchObject({
      thread_id: id,
      member: ref(cleo),
      by: ref(bob),
      thread: { id, members: [ref(ann), ref(bob), ref(cleo)], status: 'active' },
    });
  }
});

test('members are listed in the order in which they joined, whatever the clocks', async () => {
  const [ann, bob, cleo] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  const { id, url } = await thread(ann, bob);
  const later = Date.now() + 60_000;
  const text = 'update thread_members set joined_at = $2::bigint + (agent_id = $3)::int where thread_id = $1';
  await service.sql(text, [id, later, bob.id]);
  const answered = (await add(url, ann, cleo.handle)).body.members;
  expect(answered).toEqual([ref(ann), ref(bob), ref(cleo)]);
  expect((await requestRest('GET', url, { token: bob.token })).body.members).toEqual(answered);
});

test('a member that leaves or is removed loses access immediately after a last event', async () => {
  const [ann, bob, cleo] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  const { id, url } = await thread(ann, bob, cleo);
  const [annFeed, bobFeed] = await Promise.all([ann, bob].map(({ token }) => followFeed(service.api, token)));
  expect((await remove(url, cleo, `@${bob.handle}`)).status).toBe(204);
  await send(url, ann, 'without bob');
  expect((await remove(url, cleo, cleo.id)).status).toBe(204);
  for (const gone of [bob, cleo]) {
    const answers = await Promise.all([
      requestRest('GET', url, { token: gone.token }),
      requestRest('GET', `${url}/messages`, { token: gone.token }),
      send(url, gone),
      read(url, gone, 1),
      add(url, gone, gone.handle),
      remove(url, gone, ann.id),
    ]);
    expect(answers.map(({ body }) => body.error.code)).toEqual(answers.map(() => 'THREAD_NOT_FOUND'));
    const listed = await service.get(gone, '/threads');
    expect(listed.body.threads).toEqual([]);
  }
  const last = (await bobFeed?.()) ?? [];
  expect(last.map(({ type }) => type)).toEqual(['thread.member_removed']);
  expect(last[0]?.data).toMatchObject({ thread_id: id, member: ref(bob), by: ref(cleo) });
  const received = (await annFeed?.()) ?? [];
  expect(received.map(({ type }) => type)).toEqual([
    'thread.member_removed',
    'message.created',
    'thread.member_removed',
  ]);
  expect(received[2]?.data).toMatchObject({
    member: ref(cleo),
    by: ref(cleo),
    thread: { members: [ref(ann)] },
  });
  expect((await requestRest('GET', url, { token: ann.token })).body.members).toEqual([ref(ann)]);
});

test('strangers, closed threads and hidden agents are refused with the documented errors', async () => {
  const [ann, bob, cleo] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  const hidden = await service.agent({ visibility: 'private' });
  const guarded = await service.agent({ inbound_policy: 'contacts_only' });
  const { url } = await thread(ann, bob);
  const code = async (answer: ReturnType<typeof requestRest>) => (await answer).body.error.code;
  expect(await code(add(url, cleo, cleo.handle))).toBe('THREAD_NOT_FOUND');
  expect(await code(add(`${service.api}/threads/thd_nonsense`, ann, cleo.handle))).toBe('THREAD_NOT_FOUND');
  expect(await code(add(url, ann, hidden.handle))).toBe('AGENT_NOT_FOUND');
  expect(await code(add(url, ann, 'absent.here'))).toBe('AGENT_NOT_FOUND');
  expect(await code(add(url, ann, 'no handle'))).toBe('INVALID_HANDLE');
  expect(await code(add(url, ann, guarded.handle))).toBe('NOT_CONTACTS');
  expect(await code(remove(url, ann, cleo.handle))).toBe('AGENT_NOT_FOUND');
  expect(await code(remove(url, ann, hidden.handle))).toBe('AGENT_NOT_FOUND');
  expect(await code(remove(url, ann, 'no-dot'))).toBe('INVALID_HANDLE');
  await requestRest('PATCH', url, { token: ann.token, body: { status: 'closed' } });
  expect(await code(add(url, ann, cleo.handle))).toBe('THREAD_CLOSED');
  expect((await remove(url, bob, bob.handle)).status).toBe(204);
});

test('a full thread accepts no more members', async () => {
  const ann = await service.agent();
  const others: TestAgent[] = [];
  // A few at a time, so that none waits long for a connection.
  while (others.length < 255) {
    others.push(...(await Promise.all(Array.from({ length: 15 }, () => service.agent()))));
  }
  const { url } = await thread(ann, ...others);
  const refused = await add(url, ann, (await service.agent()).handle);
  expect(outcomeOf(refused)).toBe('400 VALIDATION_ERROR');
});

test('a read mark moves only forward and never past the end, and members get an event for every move', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const { id, url } = await thread(ann, bob);
  for (const content of ['1', '2', '3']) await send(url, ann, content);
  const unread = async () => (await requestRest('GET', url, { token: bob.token })).body.unread_count;
  const feeds = await Promise.all([ann, bob].map(({ token }) => followFeed(service.api, token)));

  for (const [mark, left] of [
    [2, 1],
    [1, 1],
    [0, 1],
    [2, 1],
    [99, 0],
    [99, 0],
  ] as const) {
    expect((await read(url, bob, mark)).status).toBe(204);
    expect(await unread(), `after ${mark}`).toBe(left);
  }
  for (const feed of feeds) {
    const events = await feed();
    expect(events.map(({ type, data }) => [type, data.agent, data.up_to_sequence])).toEqual([
      ['message.read', ref(bob), 2],
      ['message.read', ref(bob), 3],
    ]);
    expect(events[0]?.data).toEqual({
      thread_id: id,
      agent: ref(bob),
      up_to_sequence: 2,
      read_at: expect.any(Number),
    });
  }
  await send(url, ann, '4');
  expect(await unread()).toBe(1);
  expect((await read(url, await service.agent(), 1)).body.error.code).toBe('THREAD_NOT_FOUND');
});

test('concurrent read marks of one member result in the highest one', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const { url } = await thread(ann, bob);
  for (let count = 0; count < 12; count += 1) await send(url, ann);
  const feed = await followFeed(service.api, ann.token);
  const marks = [7, 3, 12, 1, 9, 5, 11, 2, 8, 10];
  const answers = await Promise.all(marks.map((mark) => read(url, bob, mark)));
  expect(answers.map(({ status }) => status)).toEqual(marks.map(() => 204));
  expect((await requestRest('GET', url, { token: bob.token })).body.unread_count).toBe(0);
  const emitted: number[] = (await feed()).map(({ data }) => data.up_to_sequence);
  expect(emitted).toEqual(emitted.toSorted((a, b) => a - b));
  expect(emitted.at(-1)).toBe(12);
});

test('a removed member gets no more events, also not of a concurrent read mark', async () => {
  const [ann, bob, cleo] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  const { id, url } = await thread(ann, bob, cleo);
  await send(url, bob);
  const feed = await followFeed(service.api, cleo.token);
  const holding = await service.core.database.begin();
  const mark = { text: 'select from thread_members where thread_id = $1 and agent_id = $2 for update' };
  await holding.query(mark, [id, ann.id]);
  const waiting = {
    text: 'select from pg_stat_activity where wait_event_type = $1 and datname = current_database()',
  };
  const waiters = async () => (await service.core.database.query(waiting, ['Lock'])).length;
  const reading = read(url, ann, 1);
  await expect.poll(waiters).toBe(1);
  let gone = false;
  const removing = remove(url, bob, cleo.handle).finally(() => (gone = true));
  await expect.poll(async () => gone || (await waiters()) === 2).toBe(true);
  await holding.commit();
  expect([(await reading).status, (await removing).status]).toEqual([204, 204]);
  expect((await feed()).map(({ type }) => type)).toEqual(['message.read', 'thread.member_removed']);
});
