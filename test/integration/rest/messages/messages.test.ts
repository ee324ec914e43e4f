import { expect, test } from 'vitest';
import { requestRest } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();

async function conversation(): Promise<{ ann: TestAgent; bob: TestAgent; id: string; url: string }> {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread_id = await service.thread(ann, bob);
  return { ann, bob, id: thread_id, url: `${service.api}/threads/${thread_id}` };
}

const sequences = (answer: { body: { messages: { sequence: number }[] } }) =>
  answer.body.messages.map((message) => message.sequence);

test('a message is returned unchanged, also at its Location', async () => {
  const { ann, bob, url, id } = await conversation();
  const first = await requestRest('POST', `${url}/messages`, { token: bob.token, body: { content: 'one' } });
  const sent = {
    content: 'Two — with “quotes”, 漢字, 🜁, \u2028 and \\ backslashes',
    content_type: 'markdown',
    reply_to: first.body.id,
    metadata: { turn: 2, tags: ['a', null, { deep: true }] },
    reason: 'because',
  };
  const second = await requestRest('POST', `${url}/messages`, { token: ann.token, body: sent });
  expect(second.status).toBe(201);
  expect(second.body).toEqual({
    id: expect.stringMatching(/^msg_/),
    thread_id: id,
    sender: { id: ann.id, canonical_handle: ann.handle },
    content: sent.content,
    content_type: 'markdown',
    created_at: expect.any(Number),
    sequence: 2,
    attachments: [],
    reply_to: first.body.id,
    metadata: { ...sent.metadata, reason: 'because' },
    written_by: 'agent',
  });
  const path = second.headers.get('location')?.replace('http://localhost:3000/v1', service.api);
  const found = await requestRest('GET', path ?? '', { token: bob.token });
  expect(found.body.messages).toEqual([second.body]);
});

test('concurrent senders get 1, 2, 3 … without a gap, and members see one order', async () => {
  const { ann, bob, url } = await conversation();
  const start = await service.get(bob, '/events');
  const senders = Array.from({ length: 60 }, (_, index) => (index % 2 ? ann : bob));
  const sent = await Promise.all(
    senders.map(({ token }, index) =>
      requestRest('POST', `${url}/messages`, { token, body: { content: `m${index}` } }),
    ),
  );
  expect(sent.map(({ status }) => status)).toEqual(senders.map(() => 201));
  expect(sent.map(({ body }) => body.sequence).sort((a, b) => a - b)).toEqual(
    senders.map((_, index) => index + 1),
  );
  const [forAnn, forBob] = await Promise.all(
    [ann, bob].map(({ token }) => requestRest('GET', `${url}/messages?order=asc&limit=100`, { token })),
  );
  expect(forAnn?.body.messages).toEqual(forBob?.body.messages);
  expect(forAnn?.body.messages).toHaveLength(60);
  const times: number[] = forAnn?.body.messages.map((message: { created_at: number }) => message.created_at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const thread = await requestRest('GET', url, { token: ann.token });
  expect(thread.body.last_message_at).toBe(times.at(-1));
  const { body } = await service.get(bob, `/events?cursor=${start.body.cursor}&limit=100`);
  expect(body.events.map((event: { data: unknown }) => event.data)).toEqual(forBob?.body.messages);
});

test('lists are paged in both directions while messages arrive', async () => {
  const { ann, url } = await conversation();
  const send = (content: string) =>
    requestRest('POST', `${url}/messages`, { token: ann.token, body: { content } });
  for (let index = 1; index <= 7; index += 1) await send(`m${index}`);
  const get = (query: string) => requestRest('GET', `${url}/messages${query}`, { token: ann.token });

  expect(sequences(await get('?limit=3'))).toEqual([7, 6, 5]);
  const seen: number[] = [];
  let query = '?limit=3';
  for (;;) {
    const page = await get(query);
    seen.push(...sequences(page));
    await send('meanwhile');
    const cursor = page.body.next_cursor;
    if (!cursor) {
      expect(page.headers.get('link')).toBeNull();
      break;
    }
    expect(page.headers.get('link')).toContain(`cursor=${cursor}`);
    query = `?limit=3&cursor=${cursor}`;
  }
  expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect(sequences(await get('?order=asc&after_sequence=8&limit=100'))).toEqual([9, 10]);
  const up = await get('?order=asc&limit=4');
  expect(sequences(await get(`?order=asc&limit=4&cursor=${up.body.next_cursor}`))).toEqual([5, 6, 7, 8]);
});

test('a cursor of another list, another agent or another filter is refused', async () => {
  const { ann, bob, url } = await conversation();
  for (const content of ['a', 'b', 'c'])
    await requestRest('POST', `${url}/messages`, { token: ann.token, body: { content } });
  const page = await requestRest('GET', `${url}/messages?limit=1`, { token: ann.token });
  const cursor: string = page.body.next_cursor;
  const tampered = `${cursor.slice(0, -2)}${cursor.endsWith('AA') ? 'BB' : 'AA'}`;
  const wrong: [string, string][] = [
    [`${url}/messages?limit=1&cursor=${cursor}`, bob.token],
    [`${url}/messages?order=asc&cursor=${cursor}`, ann.token],
    [`${service.api}/threads?cursor=${cursor}`, ann.token],
    [`${service.api}/events?cursor=${cursor}`, ann.token],
    [`${url}/messages?cursor=${tampered}`, ann.token],
    [`${url}/messages?cursor=nonsense`, ann.token],
    [`${url}/messages?cursor=${encodeURIComponent('..')}`, ann.token],
  ];
  for (const [address, token] of wrong) {
    const answer = await requestRest('GET', address, { token });
    expect([answer.status, answer.body.error.code], address).toEqual([400, 'INVALID_CURSOR']);
  }
});

test('unread_count counts messages of others, and a send marks none of them as read', async () => {
  const { ann, bob, url } = await conversation();
  const send = (token: string) => requestRest('POST', `${url}/messages`, { token, body: { content: 'x' } });
  const unread = async (token: string) => (await requestRest('GET', url, { token })).body.unread_count;
  await send(ann.token);
  expect([await unread(ann.token), await unread(bob.token)]).toEqual([0, 1]);
  await send(bob.token);
  expect([await unread(ann.token), await unread(bob.token)]).toEqual([1, 1]);
  const readMark = async (agent: { token: string }, at: number) =>
    (await requestRest('GET', `${url}/receipts`, agent)).body.receipts[at].read_up_to_sequence;
  const bobAt = (await requestRest('GET', `${url}/receipts`, ann)).body.receipts.findIndex(
    (receipt: { read_up_to_sequence: number }) => receipt.read_up_to_sequence === 0,
  );
  expect(bobAt).not.toBe(-1);

  // Ann: 1, 3, 5 and 6; Bob: 2, 4 and 7. Bob has read nothing.
  for (const { token } of [ann, bob, ann, ann, bob]) await send(token);
  expect(await unread(bob.token)).toBe(4);
  expect(await unread(ann.token)).toBe(3);
  const lists = async (token: string, query: string) =>
    (await service.get({ token }, `/threads?${query}`)).body.threads.length;
  expect([await lists(bob.token, 'unread=true'), await lists(bob.token, 'unread=false')]).toEqual([1, 1]);
  for (const [up_to_sequence, left] of [
    [1, 3],
    [2, 3],
    [3, 2],
    [4, 2],
    [6, 0],
  ]) {
    await requestRest('POST', `${url}/read`, { token: bob.token, body: { up_to_sequence } });
    expect([await unread(bob.token), await readMark(bob, bobAt)], `up to ${up_to_sequence}`).toEqual([
      left,
      up_to_sequence,
    ]);
  }
  expect(await lists(bob.token, 'unread=true')).toBe(0);
  // Only his own message 7 is after the mark, so the next one moves it over both.
  await send(bob.token);
  expect([await unread(bob.token), await readMark(bob, bobAt)]).toEqual([0, 8]);
  await send(ann.token);
  expect([await unread(bob.token), await readMark(bob, bobAt)]).toEqual([1, 8]);
});

test('a read mark that a process of the previous release moves is followed by all messages that are unread', async () => {
  const { ann, bob, url, id } = await conversation();
  const send = (token: string) => requestRest('POST', `${url}/messages`, { token, body: { content: 'x' } });
  const unread = async () => (await requestRest('GET', url, { token: bob.token })).body.unread_count;
  for (const { token } of [ann, ann, bob, bob]) await send(token);
  expect(await unread()).toBe(2);
  const text = 'update thread_members set read_sequence = 1 where thread_id = $1 and agent_id = $2';
  await service.core.database.query({ text }, [id, bob.id]);
  expect(await unread()).toBe(3);
  await requestRest('POST', `${url}/read`, { token: bob.token, body: { up_to_sequence: 4 } });
  expect(await unread()).toBe(0);
  await send(bob.token);
  expect(await unread()).toBe(0);
});

test('content is limited in bytes, and invalid text is refused instead of altered', async () => {
  const { ann, url } = await conversation();
  const send = (body: unknown) => requestRest('POST', `${url}/messages`, { token: ann.token, body });
  const whole = 'é'.repeat(16_384);
  expect((await send({ content: whole })).body.content).toBe(whole);
  expect((await send({ content: 'x'.repeat(32_768) })).status).toBe(201);
  for (const content of ['x'.repeat(33 * 1024), `${whole}é`]) {
    const answer = await send({ content });
    expect([answer.status, answer.body.error.code]).toEqual([413, 'MESSAGE_TOO_LARGE']);
  }
  const wrong = [
    { content: '' },
    { content: 'nul \0 inside' },
    { content: 'half \ud800 a pair' },
    { content: 'x', metadata: { key: 'nul \0' } },
    { content: 'x', metadata: { 'nul \0': 1 } },
    { content: 'x', metadata: { big: 'x'.repeat(4096) } },
    { content: 'x', metadata: [] },
    { content: 'x', content_type: 'html' },
    { content: 'x', attachment_ids: Array.from({ length: 6 }, () => 'att_1') },
    { content: 'x', thread_id: 'thd_other' },
    { content: 7 },
    { content: null },
    {},
    { content: 'x', colour: 'red', size: 1 },
  ];
  for (const body of wrong) {
    const answer = await send(body);
    expect([answer.status, answer.body.error.code], JSON.stringify(body).slice(0, 80)).toEqual([
      400,
      'VALIDATION_ERROR',
    ]);
    expect(answer.body.error.details.length).toBeGreaterThan(0);
  }
  const two = await send({ content: 'x', colour: 'red', size: 1 });
  expect(two.body.error.details.map((detail: { field: string }) => detail.field)).toEqual(['colour', 'size']);
  for (const absent of ['att_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x', '']) {
    const attachment = await send({ content: 'x', attachment_ids: [absent] });
    expect([attachment.status, attachment.body.error.code]).toEqual([404, 'ATTACHMENT_NOT_FOUND']);
    const reply = await send({ content: 'x', reply_to: absent });
    expect([reply.status, reply.body.error.code]).toEqual([404, 'MESSAGE_NOT_FOUND']);
  }
});

test('a foreign, absent or malformed thread gets the same response everywhere', async () => {
  const { url, id } = await conversation();
  const stranger = await service.agent();
  const absent = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
  const calls: [string, string, unknown][] = [
    ['GET', '', undefined],
    ['PATCH', '', { status: 'closed' }],
    ['GET', '/messages', undefined],
    ['POST', '/messages', { content: 'let me in' }],
  ];
  for (const [method, path, body] of calls) {
    const answers = await Promise.all(
      [url, url.replace(id, absent), url.replace(id, 'thd_x'), url.replace(id, 'agt_x')].map((address) =>
        requestRest(method, `${address}${path}`, { token: stranger.token, body }),
      ),
    );
    const shapes = answers.map(({ status, body: { error } }) => [
      status,
      error.code,
      error.message,
      Object.keys(error),
    ]);
    expect(shapes[0]?.slice(0, 2)).toEqual([404, 'THREAD_NOT_FOUND']);
    expect(shapes).toEqual(shapes.map(() => shapes[0]));
  }
});
