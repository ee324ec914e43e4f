import { expect, test } from 'vitest';
import { outcomeOf, readPages, type RestResponse, requestRest } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import {
  contactAdded,
  updateAgentColumn,
  createRelatedAgent,
  useContacts,
} from '../../../clients/contacts.ts';

const service = useSharedService();
const trust = useContacts(service);

const pair = (): Promise<[TestAgent, TestAgent]> => Promise.all([service.agent(), service.agent()]);
const blockOf = ({ id, handle }: TestAgent) => ({
  blocked_agent_id: id,
  blocked_handle: handle,
  created_at: expect.any(Number),
});

/** The event of a contact request. */
const requested = ({ request_id, from, message, created_at }: RestResponse['body']) => [
  'contact.request',
  { request_id, from, message, created_at },
];

test('a block is created once, is in one list, and is removed by id or handle, also in the long form', async () => {
  const [ann, bob] = await pair();
  const [owner, name] = ann.handle.split('.');
  for (const base of ['/blocks', `/agents/${owner}/${name}/blocks`]) {
    for (const ref of [bob.id, bob.handle, `@${bob.handle.toUpperCase()}`]) {
      const created = await trust.call('POST', base, ann, { handle: ref, reason: 'spam' });
      expect([created.status, created.body]).toEqual([201, blockOf(bob)]);
      const again = await trust.call('POST', base, ann, { handle: bob.handle });
      expect([again.status, again.text]).toEqual([201, created.text]);
      expect((await trust.call('GET', base, ann)).body).toEqual({ blocks: [created.body] });
      expect((await trust.blocks(bob)).body).toEqual({ blocks: [] });
      const ended = await trust.call('DELETE', `${base}/${encodeURIComponent(ref)}`, ann);
      expect([ended.status, ended.text]).toEqual([204, '']);
      expect(outcomeOf(await trust.unblock(ann, ref))).toBe('404 NOT_FOUND');
      expect((await trust.blocks(ann)).body).toEqual({ blocks: [] });
    }
  }
});

test('a block ends the contact, and both sides get the event of a removal', async () => {
  const [ann, bob] = await pair();
  await trust.befriend(ann, bob);
  const readEvents = await trust.newsOf(ann, bob);
  await trust.block(ann, bob.handle);
  await trust.block(ann, bob.handle);
  expect(await trust.areContacts(ann, bob)).toBe(false);
  expect(await readEvents()).toEqual([
    [['contact.removed', { agent_id: bob.id, canonical_handle: bob.handle }]],
    [['contact.removed', { agent_id: ann.id, canonical_handle: ann.handle }]],
  ]);
  await trust.unblock(ann, bob.handle);
  expect(await trust.areContacts(ann, bob)).toBe(false);
  expect(await readEvents()).toEqual([[], []]);
});

test('a block withdraws the request of the blocker, so that it can no longer be approved', async () => {
  const [ann, bob] = await pair();
  const first = await trust.request(ann, bob.handle);
  const readEvents = await trust.newsOf(ann, bob);
  await trust.block(ann, bob.handle);
  for (const ref of [first.body.request_id, ann.id, ann.handle]) {
    expect(outcomeOf(await trust.approve(bob, ref))).toBe('404 REQUEST_NOT_FOUND');
    expect(outcomeOf(await trust.reject(bob, ref))).toBe('404 REQUEST_NOT_FOUND');
  }
  for (const status of ['pending', 'approved', 'rejected']) {
    expect((await trust.requests(bob, `?status=${status}`)).body).toEqual({ requests: [] });
    expect((await trust.requests(ann, `?direction=outgoing&status=${status}`)).body).toEqual({
      requests: [],
    });
  }
  expect(await trust.areContacts(ann, bob)).toBe(false);
  expect(await readEvents()).toEqual([[], []]);
  await trust.unblock(ann, bob.handle);
  const second = await trust.request(ann, bob.handle);
  expect(second.body).toMatchObject({ status: 'pending' });
  expect(second.body.request_id).not.toBe(first.body.request_id);
});

test('only a blocked agent sees its pending request while the block exists', async () => {
  const [ann, bob] = await pair();
  const before = await trust.request(bob, ann.handle);
  await trust.block(ann, bob.handle);
  expect((await trust.requests(bob, '?direction=outgoing')).body).toEqual({ requests: [before.body] });
  expect((await trust.request(bob, ann.handle)).text).toBe(before.text);
  const cleo = await service.agent();
  await trust.block(ann, cleo.handle);
  const readEvents = await trust.newsOf(ann);
  const during = await trust.request(cleo, ann.handle, 'please');
  expect([during.status, during.body]).toMatchObject([201, { status: 'pending', message: 'please' }]);
  expect((await trust.requests(ann)).body).toEqual({ requests: [] });
  for (const ref of [before.body.request_id, bob.handle, during.body.request_id, cleo.id]) {
    for (const decide of [trust.approve, trust.reject])
      expect(outcomeOf(await decide(ann, ref))).toBe('404 REQUEST_NOT_FOUND');
  }
  expect(await readEvents()).toEqual([[]]);
  expect((await trust.requests(cleo, '?direction=outgoing')).body).toEqual({ requests: [during.body] });

  await trust.unblock(ann, cleo.handle);
  expect((await trust.requests(ann)).body).toEqual({ requests: [during.body] });
  expect((await trust.request(ann, cleo.handle)).body.status).toBe('approved');
  expect(await readEvents()).toEqual([[requested(during.body), contactAdded(cleo)]]);
  expect(await trust.areContacts(ann, cleo)).toBe(true);
});

test('a request that arrived during a block is announced once, when the block ends', async () => {
  const [ann, bob] = await pair();
  const readEvents = await trust.newsOf(ann, bob);
  await trust.block(ann, bob.handle);
  const request = await trust.request(bob, ann.handle, 'please');
  expect(await readEvents()).toEqual([[], []]);
  await trust.unblock(ann, bob.handle);
  await trust.request(bob, ann.handle, 'please');
  expect(await readEvents()).toEqual([[requested(request.body)], []]);

  await trust.block(ann, bob.handle);
  await trust.unblock(ann, bob.id);
  expect(await readEvents()).toEqual([[], []]);
});

test('the end of a block announces no request that was withdrawn meanwhile', async () => {
  const [ann, bob] = await pair();
  const readEvents = await trust.newsOf(ann, bob);
  await trust.block(ann, bob.handle);
  await trust.request(bob, ann.handle);
  await trust.block(bob, ann.handle);
  await trust.unblock(ann, bob.handle);
  expect(await readEvents()).toEqual([[], []]);
});

test('a block applies to agents of the same owner too; after it a new request is enough', async () => {
  const ann = await service.agent();
  const related = await createRelatedAgent(service, ann);
  await trust.block(ann, related.handle);
  const first = await trust.request(related, ann.handle);
  expect(first.body.status).toBe('pending');
  expect(await trust.areContacts(ann, related)).toBe(false);
  await trust.unblock(ann, related.handle);
  expect((await trust.request(related, ann.handle)).body).toEqual({ ...first.body, status: 'approved' });
  expect(await trust.areContacts(ann, related)).toBe(true);
});

test('a block has precedence over the allowlist', async () => {
  const [ann, bob] = await Promise.all([service.agent({ inbound_policy: 'allowlist' }), service.agent()]);
  await trust.allow(ann, bob.handle);
  await trust.block(ann, bob.handle);
  expect(outcomeOf(await trust.request(bob, ann.handle))).toBe('403 NOT_ALLOWED');
  await trust.unblock(ann, bob.handle);
  expect((await trust.request(bob, ann.handle)).status).toBe(201);
});

test('a blocked agent that becomes private or is retired stays blocked, and can be unblocked', async () => {
  const ann = await service.agent();
  const [hidden, retired] = await pair();
  await trust.befriend(ann, hidden);
  await updateAgentColumn(service, hidden, 'visibility', 'private');
  for (const { handle } of [hidden, retired]) await trust.block(ann, handle);
  await updateAgentColumn(service, retired, 'retired_at', Date.now());
  for (const other of [hidden, retired]) {
    const again = await trust.block(ann, other.handle);
    expect([again.status, again.body]).toEqual([201, blockOf(other)]);
  }
  expect((await trust.blocks(ann)).body.blocks).toHaveLength(2);
  for (const { id } of [hidden, retired]) expect((await trust.unblock(ann, id)).status).toBe(204);
  expect((await trust.blocks(ann)).body).toEqual({ blocks: [] });
});

test('lists are newest first, page by page', async () => {
  const ann = await service.agent();
  const blocked: string[] = [];
  for (let count = 0; count < 7; count += 1) {
    const { handle } = await service.agent();
    await trust.block(ann, handle);
    blocked.unshift(handle);
  }
  const read = (query: string) => trust.blocks(ann, query);
  const seen: { blocked_handle: string; created_at: number }[] = await readPages(read, {
    list: 'blocks',
    limit: 3,
  });
  expect(seen.map(({ blocked_handle }) => blocked_handle).toSorted()).toEqual(blocked.toSorted());
  const times = seen.map(({ created_at }) => created_at);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
});

test('the caller, absent agents and invalid bodies are refused; one key creates one block', async () => {
  const [ann, bob] = await pair();
  expect(outcomeOf(await trust.block(ann, ann.handle))).toBe('400 VALIDATION_ERROR');
  expect(outcomeOf(await trust.block(ann, 'absent.here'))).toBe('404 AGENT_NOT_FOUND');
  expect(outcomeOf(await trust.block(ann, 'absent'))).toBe('400 INVALID_HANDLE');
  const request = { token: ann.token, key: 'k', body: { handle: bob.handle } };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => requestRest('POST', `${service.api}/blocks`, request)),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  const keyless = await requestRest('POST', `${service.api}/blocks`, { ...request, key: null });
  expect([keyless.status, keyless.text]).toEqual([201, answers[0]?.text]);
});
