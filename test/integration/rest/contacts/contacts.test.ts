import { outcomeOf, readPages } from '../../../clients/rest.ts';
import { expect, test } from 'vitest';
import { followFeed } from '../../../clients/feed.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { updateAgentColumn, useContacts } from '../../../clients/contacts.ts';

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
  expect(outcomeOf(await trust.call('GET', `/agents/${owner}/${name}/contacts`, ann))).toBe('403 FORBIDDEN');
});

test('pages are ordered by handle and neither skip nor repeat while contacts change', async () => {
  const ann = await service.agent();
  const friends = await agents(9);
  const [late, ...first] = friends.toSorted((a, b) => (a.handle < b.handle ? -1 : 1)) as [
    TestAgent,
    ...TestAgent[],
  ];
  for (const friend of first) await trust.befriend(friend, ann);
  const read = (query: string) => trust.contacts(ann, query);
  const seen = handles(
    await readPages(read, { list: 'contacts', limit: 3 }, async ({ length }) => {
      if (length > 3) return;
      // A removed contact and a new one before the position do not shift the others.
      await trust.removeContact(ann, first[1]?.id ?? '');
      await trust.befriend(late, ann);
    }),
  );
  expect(seen).toEqual(first.map(({ handle }) => handle));
  expect((await trust.contacts(ann)).body.contacts).toHaveLength(8);
});

test('without a limit a page has 50 contacts', async () => {
  const ann = await service.agent();
  const others = await agents(51);
  await service.write(async ({ db: { contacts }, now }) => {
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
    expect(outcomeOf(await trust.removeContact(ann, ref))).toBe('404 CONTACT_NOT_FOUND');
    expect(outcomeOf(await trust.removeContact(bob, ann.id))).toBe('404 CONTACT_NOT_FOUND');
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
      expect(outcomeOf(await trust.call(method, at, { token })), `${method} ${at}`).toBe(
        '400 INVALID_HANDLE',
      );
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
