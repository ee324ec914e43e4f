import { expect, test } from 'vitest';
import { outcomeOf, readPages, requestRest } from '../../../clients/rest.ts';
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

test('lists are paged in both directions while messages arrive', async () => {
  const { ann, url } = await conversation();
  const send = (content: string) =>
    requestRest('POST', `${url}/messages`, { token: ann.token, body: { content } });
  for (let index = 1; index <= 7; index += 1) await send(`m${index}`);
  const get = (query: string) => requestRest('GET', `${url}/messages${query}`, { token: ann.token });

  expect(sequences(await get('?limit=3'))).toEqual([7, 6, 5]);
  const pages = await readPages(get, { list: 'messages', limit: 3 }, () => send('meanwhile'));
  const seen = pages.map(({ sequence }) => sequence);
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
  const wrong: [string, string][] = [
    [`${url}/messages?limit=1&cursor=${cursor}`, bob.token],
    [`${url}/messages?order=asc&cursor=${cursor}`, ann.token],
    [`${service.api}/events?cursor=${cursor}`, ann.token],
  ];
  for (const [address, token] of wrong) {
    const answer = await requestRest('GET', address, { token });
    expect(outcomeOf(answer), address).toBe('400 INVALID_CURSOR');
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
  await service.sql(text, [id, bob.id]);
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
    expect(outcomeOf(answer)).toBe('413 MESSAGE_TOO_LARGE');
  }
  const wrong = [
    { content: 'nul \0 inside' },
    { content: 'half \ud800 a pair' },
    { content: 'x', metadata: { key: 'nul \0' } },
    { content: 'x', metadata: { 'nul \0': 1 } },
    { content: 'x', metadata: { big: 'x'.repeat(4096) } },
    { content: 'x', metadata: [] },
    { content: 'x', thread_id: 'thd_other' },
    { content: 'x', colour: 'red', size: 1 },
  ];
  for (const body of wrong) {
    const answer = await send(body);
    expect(outcomeOf(answer), JSON.stringify(body).slice(0, 80)).toBe('400 VALIDATION_ERROR');
    expect(answer.body.error.details.length).toBeGreaterThan(0);
  }
  const two = await send({ content: 'x', colour: 'red', size: 1 });
  expect(two.body.error.details.map((detail: { field: string }) => detail.field)).toEqual(['colour', 'size']);
  for (const absent of ['att_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x', '']) {
    const attachment = await send({ content: 'x', attachment_ids: [absent] });
    expect(outcomeOf(attachment)).toBe('404 ATTACHMENT_NOT_FOUND');
    const reply = await send({ content: 'x', reply_to: absent });
    expect(outcomeOf(reply)).toBe('404 MESSAGE_NOT_FOUND');
  }
});
