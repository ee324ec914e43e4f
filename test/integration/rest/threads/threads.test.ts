import { expect, test } from 'vitest';
import { followFeed } from '../../../clients/feed.ts';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();

const agents = (): Promise<[TestAgent, TestAgent]> => Promise.all([service.agent(), service.agent()]);

test('a thread is created with its first message, in the long and the short form', async () => {
  const [ann, bob] = await agents();
  const [owner, name] = ann.handle.split('.');
  for (const path of [
    '/threads',
    `/agents/${owner}/${name}/threads`,
    `/agents/@${owner?.toUpperCase()}/${name}/threads`,
  ]) {
    const body = { with_handle: `@${bob.handle.toUpperCase()}`, subject: 'Plans', initial_message: 'Hello' };
    const created = await service.post(ann, path, body);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^thd_/),
      subject: 'Plans',
      status: 'active',
      created_by: ann.handle,
      created_by_id: ann.id,
      metadata: {},
      members: [
        { id: ann.id, canonical_handle: ann.handle },
        { id: bob.id, canonical_handle: bob.handle },
      ],
      last_message_at: created.body.created_at,
      created_at: expect.any(Number),
      updated_at: created.body.created_at,
      last_sequence: 1,
      unread_count: 0,
      watched_by: [],
      initial_message_id: expect.stringMatching(/^msg_/),
    });
    expect(created.headers.get('location')).toBe(`http://localhost:3000/v1/threads/${created.body.id}`);
    const { initial_message_id: first, ...thread } = created.body;
    const seen = await service.get(bob, `/threads/${thread.id}`);
    expect(seen.body).toEqual({ ...thread, unread_count: 1 });
    const messages = await service.get(bob, `/threads/${thread.id}/messages`);
    expect(messages.body).toEqual({
      messages: [
        {
          id: first,
          thread_id: thread.id,
          sender: { id: ann.id, canonical_handle: ann.handle },
          content: 'Hello',
          content_type: 'text',
          created_at: thread.created_at,
          sequence: 1,
          attachments: [],
          reply_to: null,
          metadata: {},
          written_by: 'agent',
        },
      ],
    });
  }
});

test('a thread without subject and message has nulls, and a first message may be an object', async () => {
  const [ann, bob] = await agents();
  const bare = await service.post(ann, '/threads', { with_handle: bob.handle });
  expect(bare.body).toMatchObject({ subject: null, last_message_at: null, last_sequence: 0 });
  expect(bare.body).not.toHaveProperty('initial_message_id');
  const initial_message = { content: '**hi**', content_type: 'markdown' };
  const rich = await service.post(ann, '/threads', {
    participants: [bob.handle],
    initial_message,
    reason: 'planning',
  });
  const { body } = await service.get(ann, `/threads/${rich.body.id}/messages`);
  expect(body.messages).toMatchObject([{ ...initial_message, metadata: { reason: 'planning' } }]);
});

test('a path that names another agent is refused, whether that agent exists or not', async () => {
  const [ann, bob] = await agents();
  const answers = [];
  for (const handle of [bob.handle, 'absent.at-all']) {
    const [owner, name] = handle.split('.');
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? { with_handle: bob.handle } : undefined;
      answers.push(
        await requestRest(method, `${service.api}/agents/${owner}/${name}/threads`, {
          token: ann.token,
          body,
        }),
      );
    }
  }
  expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
    answers.map(() => [403, 'FORBIDDEN']),
  );
  expect(new Set(answers.map(({ body }) => body.error.message)).size).toBe(1);
});

test('the caller, duplicates, an empty list, both fields or neither are refused as participants', async () => {
  const [ann, bob] = await agents();
  const wrong = [
    { with_handle: ann.handle },
    { participants: [bob.handle, `@${bob.handle}`] },
    { participants: [bob.handle, bob.id] },
    {},
    { with_handle: bob.handle, participants: [bob.handle] },
  ];
  for (const body of wrong) {
    const answer = await service.post(ann, '/threads', body);
    expect(outcomeOf(answer), JSON.stringify(body)).toBe('400 VALIDATION_ERROR');
  }
  const malformed = await service.post(ann, '/threads', { with_handle: 'no dot' });
  expect(outcomeOf(malformed)).toBe('400 INVALID_HANDLE');
  const { body } = await service.get(bob, '/threads');
  expect(body).toEqual({ threads: [] });
});

test('any member can make the documented status changes; the same status changes nothing', async () => {
  const [ann, bob] = await agents();
  const thread_id = await service.thread(ann, bob);
  const url = `/threads/${thread_id}`;
  const start = await service.get(ann, '/events');
  const walk: [string, number][] = [
    ['active', 200],
    ['closed', 200],
    ['archived', 200],
    ['closed', 409],
    ['active', 200],
    ['archived', 200],
    ['archived', 200],
    ['active', 200],
    ['closed', 200],
    ['active', 200],
  ];
  for (const [status, expected] of walk) {
    const answer = await service.patch(bob, url, { status });
    expect(answer.status, status).toBe(expected);
    if (expected === 409) expect(answer.body.error.code).toBe('INVALID_TRANSITION');
    else expect(answer.body.status).toBe(status);
  }
  const subject = await service.patch(ann, url, { subject: 'New' });
  expect(subject.body).toMatchObject({ subject: 'New', status: 'active' });
  const page = await service.get(ann, `/events?cursor=${start.body.cursor}`);
  const { unread_count: _count, ...thread } = subject.body;
  expect(page.body.events.map((event: { type: string }) => event.type)).toEqual(
    Array(8).fill('thread.updated'),
  );
  expect(page.body.events.at(-1).data).toEqual(thread);
});

test('lists filter by status, by member and by time, newest activity first', async () => {
  const [ann, bob] = await agents();
  const eve = await service.agent();
  const open = async (handle: string) =>
    (await service.post(ann, '/threads', { with_handle: handle })).body.id as string;
  const first = await open(bob.handle);
  const second = await open(eve.handle);
  const third = await open(bob.handle);
  await service.patch(ann, `/threads/${third}`, { status: 'archived' });
  const sent = await service.post(bob, `/threads/${first}/messages`, { content: 'up' });
  const list = async (query: string) =>
    (await service.get(ann, `/threads${query}`)).body.threads.map((t: { id: string }) => t.id);
  expect(await list('')).toEqual([first, second]);
  expect(await list('?status=archived')).toEqual([third]);
  expect(await list('?status=closed')).toEqual([]);
  expect(await list(`?with_handle=@${bob.handle}`)).toEqual([first]);
  expect(await list(`?updated_since=${sent.body.created_at + 1}`)).toEqual([]);
  expect(await list(`?updated_since=${sent.body.created_at}`)).toEqual([first]);
});

test('the event of a new thread lists its members in the order of the thread', async () => {
  const members = await Promise.all(Array.from({ length: 4 }, () => service.agent()));
  const [last, ...others] = members.toSorted((a, b) => (a.handle < b.handle ? 1 : -1));
  if (!last) throw new Error('there are no agents');
  const feed = await followFeed(service.api, last.token);
  const participants = others.map(({ handle }) => handle);
  const created = await service.post(last, '/threads', { participants });
  const [event] = await feed();
  expect(event?.data.members).toEqual(created.body.members);
});
