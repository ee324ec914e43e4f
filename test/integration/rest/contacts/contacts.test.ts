import { system } from '../../../../packages/core/src/domain/auth/audit.ts';
import { expect, test } from 'vitest';
import { followFeed } from '../../../clients/feed.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { updateAgentColumn, statusAndCode, useContacts } from '../../../clients/contacts.ts';

const service = useSharedService();
const trust = useContacts(service);

const agents = (count: number): Promise<TestAgent[]> =>
  Promise.all(Array.from({ length: count }, () => service.agent()));
const pair = () => agents(2) as Promise<[TestAgent, TestAgent]>;
const handles = (contacts: { canonical_handle: string }[]) =>
  contacts.map(({ canonical_handle }) => canonical_handle);

test('a contact is in both lists with the other side’s profile, in the long and the short form', async () => {
  const [ann, bob] = await pair();
  expect((await trust.contacts(ann)).body).toEqual({ contacts: [] });
  await trust.befriend(ann, bob);
  for (const [me, other] of [
    [ann, bob],
    [bob, ann],
  ] as const) {
    const contacts = [
      {
        agent_id: other.id,
        canonical_handle: other.handle,
        display_name: 'agent',
        favorite: false,
        is_online: false,
        same_owner: false,
        since: expect.any(Number),
      },
    ];
    const [owner, name] = me.handle.split('.');
    for (const path of ['/contacts', `/agents/${owner}/${name}/contacts`]) {
      const answer = await trust.call('GET', path, me);
      expect([answer.status, answer.body]).toEqual([200, { contacts }]);
    }
  }
  const [owner, name] = bob.handle.split('.');
  expect(statusAndCode(await trust.call('GET', `/agents/${owner}/${name}/contacts`, ann))).toEqual([
    403,
    'FORBIDDEN',
  ]);
});

test('pages are ordered by handle and neither skip nor repeat while contacts change', async () => {
  const ann = await service.agent();
  const friends = await agents(9);
  const [late, ...first] = friends.toSorted((a, b) => (a.handle < b.handle ? -1 : 1)) as [
    TestAgent,
    ...TestAgent[],
  ];
  for (const friend of first) await trust.befriend(friend, ann);
  const seen: string[] = [];
  let query = '?limit=3';
  for (let page = 0; query !== ''; page += 1) {
    const { body, headers } = await trust.contacts(ann, query);
    expect(body.contacts.length).toBeLessThanOrEqual(3);
    seen.push(...handles(body.contacts));
    const next = body.next_cursor as string | undefined;
    query = next === undefined ? '' : `?limit=3&cursor=${encodeURIComponent(next)}`;
    expect(headers.get('link') ?? '').toContain(next === undefined ? '' : 'rel="next"');
    // A removed contact and a new one before the position do not shift the others.
    if (page === 0) {
      await trust.removeContact(ann, first[1]?.id ?? '');
      await trust.befriend(late, ann);
    }
  }
  expect(seen).toEqual(first.map(({ handle }) => handle));
  expect((await trust.contacts(ann)).body.contacts).toHaveLength(8);
});

test('a cursor is valid only for its list and agent, and limits are enforced', async () => {
  const [ann, bob, cleo] = (await agents(3)) as [TestAgent, TestAgent, TestAgent];
  await trust.befriend(ann, bob);
  await trust.befriend(ann, cleo);
  const cursor = encodeURIComponent((await trust.contacts(ann, '?limit=1')).body.next_cursor);
  for (const answer of [
    await trust.contacts(bob, `?cursor=${cursor}`),
    await trust.blocks(ann, `?cursor=${cursor}`),
    await trust.allowlist(ann, `?cursor=${cursor}`),
    await trust.requests(ann, `?cursor=${cursor}`),
    await trust.contacts(ann, `?cursor=${cursor.slice(1)}`),
    await trust.contacts(ann, '?cursor=nonsense'),
  ])
    expect(statusAndCode(answer)).toEqual([400, 'INVALID_CURSOR']);
  for (const list of [trust.contacts, trust.requests, trust.blocks, trust.allowlist]) {
    for (const query of ['?limit=0', '?limit=101', '?limit=x', '?limit=1&limit=2', '?cursor=']) {
      expect(statusAndCode(await list(ann, query)), query).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect((await list(ann, '?limit=100')).status).toBe(200);
  }
});

test('without a limit a page has 50 contacts', async () => {
  const ann = await service.agent();
  const others = await agents(51);
  await service.core.unitOfWork.write(system, async ({ db: { contacts }, now }) => {
    for (const { id } of others) await contacts.insert({ agent_id: ann.id, contact_id: id, since: now });
  });
  const { body } = await trust.contacts(ann);
  expect(body.contacts).toHaveLength(50);
  const last = await trust.contacts(ann, `?cursor=${encodeURIComponent(body.next_cursor)}`);
  expect(last.body.contacts).toHaveLength(1);
  expect(last.body).not.toHaveProperty('next_cursor');
});

test('a favorite is private, and is set and removed idempotently by id or handle', async () => {
  const [ann, bob] = await pair();
  await trust.befriend(ann, bob);
  const feeds = await Promise.all([ann, bob].map(({ token }) => followFeed(service.api, token)));
  const marks = async (by: TestAgent) =>
    (await trust.contacts(by)).body.contacts.map(({ favorite }: { favorite: boolean }) => favorite);
  for (const ref of [bob.id, bob.handle, `@${bob.handle.toUpperCase()}`]) {
    const answer = await trust.favorite(ann, ref);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await marks(ann)).toEqual([true]);
  }
  expect(await marks(bob)).toEqual([false]);
  for (const ref of [bob.handle, bob.id]) {
    expect((await trust.unfavorite(ann, ref)).status).toBe(204);
    expect(await marks(ann)).toEqual([false]);
  }
  const [own, other] = await Promise.all(feeds.map((feed) => feed()));
  expect(own?.map(({ type, data }) => [type, data.agent_id, data.favorite])).toEqual([
    ['contact.updated', bob.id, true],
    ['contact.updated', bob.id, false],
  ]);
  expect(other).toEqual([]);
});

test('a contact is removed on both sides, and both get an event', async () => {
  const [ann, bob] = await pair();
  for (const ref of [bob.id, bob.handle, `@${bob.handle.toUpperCase()}`]) {
    await trust.befriend(ann, bob);
    const feeds = await Promise.all([ann, bob].map(({ token }) => followFeed(service.api, token)));
    const answer = await trust.removeContact(ann, ref);
    expect([answer.status, answer.text]).toEqual([204, '']);
    for (const by of [ann, bob]) expect((await trust.contacts(by)).body).toEqual({ contacts: [] });
    const [toAnn, toBob] = await Promise.all(feeds.map((feed) => feed()));
    expect(toAnn?.map(({ type, data }) => [type, data])).toEqual([
      ['contact.removed', { agent_id: bob.id, canonical_handle: bob.handle }],
    ]);
    expect(toBob?.map(({ type, data }) => [type, data])).toEqual([
      ['contact.removed', { agent_id: ann.id, canonical_handle: ann.handle }],
    ]);
    expect(statusAndCode(await trust.removeContact(ann, ref))).toEqual([404, 'CONTACT_NOT_FOUND']);
    expect(statusAndCode(await trust.removeContact(bob, ann.id))).toEqual([404, 'CONTACT_NOT_FOUND']);
  }
});

test('a contact that becomes private or is retired can be marked and removed', async () => {
  const ann = await service.agent();
  const [hidden, retired] = await pair();
  for (const other of [hidden, retired]) await trust.befriend(ann, other);
  await updateAgentColumn(service, hidden, 'visibility', 'private');
  await updateAgentColumn(service, retired, 'retired_at', Date.now());
  for (const { handle } of [hidden, retired]) {
    expect((await trust.favorite(ann, handle)).status).toBe(204);
    expect((await trust.removeContact(ann, handle)).status).toBe(204);
  }
  expect((await trust.contacts(ann)).body).toEqual({ contacts: [] });
});

test('a retired agent loses its contacts and requests', async () => {
  const [ann, bob] = await pair();
  const [cleo, dora] = await pair();
  const eve = await service.agent();
  for (const other of [bob, cleo]) await trust.befriend(other, ann);
  await trust.request(ann, dora.handle);
  const request = await trust.request(eve, ann.handle);
  const others = await service.core.unitOfWork.write(system, async (work) => {
    await work.db.contactRequests.withdrawAllOf(ann.id, work.now);
    return work.db.contacts.removeAllOf(ann.id);
  });
  expect(others).toEqual(
    [bob, cleo]
      .map(({ id, handle }) => ({ agent_id: id, canonical_handle: handle }))
      .toSorted((a, b) => (a.canonical_handle < b.canonical_handle ? -1 : 1)),
  );
  for (const by of [ann, bob, cleo]) expect((await trust.contacts(by)).body).toEqual({ contacts: [] });
  expect((await trust.requests(dora)).body).toEqual({ requests: [] });
  for (const by of [ann, eve])
    expect((await trust.requests(by, '?direction=outgoing')).body).toEqual({ requests: [] });
  expect(statusAndCode(await trust.approve(ann, request.body.request_id))).toEqual([
    404,
    'REQUEST_NOT_FOUND',
  ]);
});

test('each operation needs its scope', async () => {
  const [ann, bob] = await pair();
  const reading = { token: await service.token(ann.handle, { scopes: ['contacts:read', 'threads:write'] }) };
  const writing = { token: await service.token(ann.handle, { scopes: ['contacts:write', 'threads:read'] }) };
  const refusals = [
    ...['/contacts', '/contacts/requests', '/blocks', '/allowlist'].map((path) =>
      trust.call('GET', path, writing),
    ),
    trust.request(reading, bob.handle),
    trust.approve(reading, bob.handle),
    trust.reject(reading, bob.handle),
    trust.removeContact(reading, bob.handle),
    trust.favorite(reading, bob.handle),
    trust.unfavorite(reading, bob.handle),
    trust.block(reading, bob.handle),
    trust.unblock(reading, bob.handle),
    trust.allow(reading, bob.handle),
    trust.disallow(reading, bob.handle),
  ];
  for (const [index, answer] of (await Promise.all(refusals)).entries()) {
    expect(statusAndCode(answer)).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect(answer.headers.get('www-authenticate')).toContain(
      `scope="contacts:${index < 4 ? 'read' : 'write'}"`,
    );
  }
});

test('invalid references are refused everywhere, and a hostile path causes no internal error', async () => {
  const { token } = await service.agent();
  for (const ref of [
    'absent',
    'no handle',
    'a.b.c',
    'agt_1',
    'x'.repeat(80),
    '\u{1f600}.\u{1f600}',
    '..%2f',
  ]) {
    const path = encodeURIComponent(ref);
    for (const [method, at] of [
      ['DELETE', `/contacts/${path}`],
      ['PUT', `/contacts/${path}/favorite`],
      ['DELETE', `/contacts/${path}/favorite`],
      ['POST', `/contacts/requests/${path}/approve`],
      ['POST', `/contacts/requests/${path}/reject`],
      ['DELETE', `/blocks/${path}`],
      ['DELETE', `/allowlist/${path}`],
    ] as const)
      expect(statusAndCode(await trust.call(method, at, { token })), `${method} ${at}`).toEqual([
        400,
        'INVALID_HANDLE',
      ]);
  }
  for (const path of [
    `/contacts/${'x'.repeat(81)}`,
    '/contacts/%00',
    '/blocks/a%00.b',
    '/allowlist/%F0%9F',
  ]) {
    expect([400, 404], path).toContain((await service.delete({ token }, path)).status);
  }
});
