import { outcomeOf, readPages } from '../../../clients/rest.ts';
import { expect, test } from 'vitest';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { contactAdded, updateAgentColumn, agentSummary, useContacts } from '../../../clients/contacts.ts';

const service = useSharedService();
const trust = useContacts(service);

const pair = (): Promise<[TestAgent, TestAgent]> => Promise.all([service.agent(), service.agent()]);
const notFound = '404 REQUEST_NOT_FOUND';

test('a request is delivered, is pending in both lists, and makes contacts when approved', async () => {
  const [ann, bob] = await pair();
  const readEvents = await trust.newsOf(ann, bob);
  const requested = await trust.request(ann, `@${bob.handle.toUpperCase()}`, 'Shall we talk?');
  expect(requested.status).toBe(201);
  const request = {
    request_id: expect.stringMatching(/^creq_/),
    from: agentSummary(ann),
    to: agentSummary(bob),
    message: 'Shall we talk?',
    status: 'pending',
    created_at: expect.any(Number),
  };
  expect(requested.body).toEqual(request);
  const { request_id, created_at } = requested.body;
  expect((await trust.requests(bob)).body).toEqual({ requests: [requested.body] });
  expect((await trust.requests(ann, '?direction=outgoing')).body).toEqual({ requests: [requested.body] });
  expect((await trust.requests(ann)).body).toEqual({ requests: [] });
  expect((await trust.requests(bob, '?direction=outgoing')).body).toEqual({ requests: [] });
  expect(await trust.areContacts(ann, bob)).toBe(false);
  expect(await readEvents()).toEqual([
    [],
    [['contact.request', { request_id, from: agentSummary(ann), message: 'Shall we talk?', created_at }]],
  ]);

  const approved = await trust.approve(bob, request_id);
  expect([approved.status, approved.body]).toEqual([200, { ...requested.body, status: 'approved' }]);
  expect(await trust.areContacts(ann, bob)).toBe(true);
  expect(await readEvents()).toEqual([[contactAdded(bob)], [contactAdded(ann)]]);
  expect((await trust.approve(bob, request_id)).text).toBe(approved.text);
  expect((await trust.approve(bob, ann.handle)).text).toBe(approved.text);
  expect(outcomeOf(await trust.reject(bob, request_id))).toBe(notFound);
  expect(await readEvents()).toEqual([[], []]);
  expect((await trust.requests(bob)).body).toEqual({ requests: [] });
  for (const [by, query] of [
    [bob, '?status=approved'],
    [ann, '?status=approved&direction=outgoing'],
  ] as const)
    expect((await trust.requests(by, query)).body).toEqual({ requests: [approved.body] });
});

test('the requesting agent can name its request, and the long form equals the short form', async () => {
  for (const name of [
    ({ id }: TestAgent) => id,
    ({ handle }: TestAgent) => handle,
    ({ handle }: TestAgent) => `@${handle.toUpperCase()}`,
  ]) {
    const [ann, bob] = await pair();
    const [owner, own] = bob.handle.split('.');
    const base = `/agents/${owner}/${own}/contacts/requests`;
    await trust.request(ann, bob.id);
    expect((await trust.call('GET', base, bob)).body.requests).toHaveLength(1);
    const ref = encodeURIComponent(name(ann));
    expect((await trust.call('POST', `${base}/${ref}/reject`, bob)).status).toBe(204);
    await trust.request(ann, bob.id);
    const approved = await trust.call('POST', `${base}/${ref}/approve`, bob);
    expect([approved.status, approved.body.status]).toEqual([200, 'approved']);
    expect(await trust.areContacts(ann, bob)).toBe(true);
  }
});

test('a rejection emits no event, is in the list of the requester, and allows a new request', async () => {
  const [ann, bob] = await pair();
  const first = await trust.request(ann, bob.handle);
  expect(first.body.message).toBeNull();
  const readEvents = await trust.newsOf(ann, bob);
  const rejected = await trust.reject(bob, first.body.request_id);
  expect([rejected.status, rejected.text]).toEqual([204, '']);
  expect((await trust.reject(bob, ann.handle)).status).toBe(204);
  expect(outcomeOf(await trust.approve(bob, first.body.request_id))).toBe(notFound);
  expect(outcomeOf(await trust.approve(bob, ann.handle))).toBe(notFound);
  expect(await readEvents()).toEqual([[], []]);
  expect((await trust.requests(ann, '?direction=outgoing')).body).toEqual({ requests: [] });
  expect((await trust.requests(ann, '?direction=outgoing&status=rejected')).body).toEqual({
    requests: [{ ...first.body, status: 'rejected' }],
  });
  const second = await trust.request(ann, bob.handle);
  expect(second.body).toMatchObject({ status: 'pending' });
  expect(second.body.request_id).not.toBe(first.body.request_id);
  expect(await trust.areContacts(ann, bob)).toBe(false);
});

test('a repeated request returns the pending one, and a request to a contact returns an approved one, without events', async () => {
  const [ann, bob] = await pair();
  const first = await trust.request(ann, bob.handle, 'first');
  const readEvents = await trust.newsOf(ann, bob);
  const again = await trust.request(ann, bob.handle, 'second');
  expect([again.status, again.text]).toEqual([201, first.text]);
  await trust.approve(bob, first.body.request_id);
  await readEvents();
  expect((await trust.request(ann, bob.handle)).body).toEqual({ ...first.body, status: 'approved' });
  const back = await trust.request(bob, ann.handle);
  expect([back.status, back.body]).toMatchObject([
    201,
    { from: agentSummary(bob), to: agentSummary(ann), status: 'approved' },
  ]);
  expect((await trust.request(bob, ann.handle)).text).toBe(back.text);
  expect(await readEvents()).toEqual([[], []]);
  expect((await trust.requests(ann)).body).toEqual({ requests: [] });
});

test('the same key returns the same request; without a key no request is created', async () => {
  const [ann, bob] = await pair();
  const ask = (key: string | null, message: string) =>
    service.post(ann, '/contacts/requests', { handle: bob.handle, message }, { key });
  expect(outcomeOf(await ask(null, 'x'))).toBe('400 IDEMPOTENCY_KEY_REQUIRED');
  const first = await ask('one', 'x');
  await trust.reject(bob, first.body.request_id);
  const replayed = await ask('one', 'x');
  expect([replayed.status, replayed.text]).toEqual([201, first.text]);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  expect(outcomeOf(await ask('one', 'y'))).toBe('422 IDEMPOTENCY_MISMATCH');
  expect((await trust.requests(bob)).body).toEqual({ requests: [] });
});

test('crossing requests create one contact and one event for each side', async () => {
  const [ann, bob] = await pair();
  await trust.request(ann, bob.handle);
  const readEvents = await trust.newsOf(ann, bob);
  const answer = await trust.request(bob, ann.handle);
  expect([answer.status, answer.body]).toMatchObject([201, { from: agentSummary(bob), status: 'approved' }]);
  expect(await readEvents()).toEqual([[contactAdded(bob)], [contactAdded(ann)]]);
  expect(await trust.areContacts(ann, bob)).toBe(true);
  for (const [by, query] of [
    [ann, ''],
    [bob, ''],
    [ann, '?direction=outgoing'],
    [bob, '?direction=outgoing'],
  ] as const)
    expect((await trust.requests(by, query)).body).toEqual({ requests: [] });
});

test('concurrent crossing requests create one contact in any order', async () => {
  for (let round = 0; round < 12; round += 1) {
    const [ann, bob] = await pair();
    const readEvents = await trust.newsOf(ann, bob);
    const answers = await Promise.all([
      trust.request(ann, bob.handle),
      trust.request(bob, ann.handle),
      trust.request(ann, bob.handle),
      trust.request(bob, ann.handle),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(await trust.areContacts(ann, bob)).toBe(true);
    const received = (await readEvents()).map((events) =>
      events.filter(([type]) => type === 'contact.added'),
    );
    expect(received).toEqual([[contactAdded(bob)], [contactAdded(ann)]]);
  }
});

test('only the requested agent decides, and only while the request is pending', async () => {
  const [ann, bob] = await pair();
  const { body } = await trust.request(ann, bob.handle);
  for (const decide of [trust.approve, trust.reject]) {
    for (const answer of [
      await decide(ann, body.request_id),
      await decide(ann, bob.handle),
      await decide(await service.agent(), body.request_id),
      await decide(bob, 'creq_01K9ZX6Q8T1V5X7Y9Z0B2D4E5F'),
      await decide(bob, 'creq_nonsense'),
      await decide(bob, bob.handle),
    ])
      expect(outcomeOf(answer)).toBe(notFound);
  }
  expect(await trust.areContacts(ann, bob)).toBe(false);
  expect((await trust.requests(bob)).body.requests).toHaveLength(1);
});

test('lists are newest first, page by page, without those of agents that were retired', async () => {
  const ann = await service.agent();
  const others: TestAgent[] = [];
  for (let count = 0; count < 7; count += 1) others.push(await service.agent());
  for (const other of others) {
    await trust.request(other, ann.handle);
    await trust.request(ann, (await service.agent({ inbound_policy: 'contacts_only' })).handle);
  }
  await updateAgentColumn(service, others[3] ?? ann, 'retired_at', Date.now());
  const expected = others.filter((_, index) => index !== 3).toReversed();
  for (const direction of ['incoming', 'outgoing']) {
    const seen = await readPages((query) => trust.requests(ann, query), {
      list: 'requests',
      limit: 2,
      filter: `&direction=${direction}`,
    });
    const times = seen.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    if (direction === 'incoming')
      expect(seen.map(({ from }) => from.id)).toEqual(expected.map(({ id }) => id));
    else expect(seen).toHaveLength(7);
  }
  expect(outcomeOf(await trust.approve(ann, others[3]?.id ?? ''))).toBe(notFound);
  const { next_cursor } = (await trust.requests(ann, '?limit=1')).body;
  for (const query of ['direction=outgoing', 'status=rejected']) {
    const answer = await trust.requests(ann, `?${query}&cursor=${encodeURIComponent(next_cursor)}`);
    expect(outcomeOf(answer)).toBe('400 INVALID_CURSOR');
  }
});
