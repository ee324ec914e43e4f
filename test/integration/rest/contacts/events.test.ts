import { expect, test } from 'vitest';
import type { Scope } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { followFeed } from '../../../clients/feed.ts';
import { type TestAgent, useService } from '../../../support/service.ts';
import { contactAdded, agentSummary, useContacts } from '../../../clients/contacts.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';

const service = useService();
const trust = useContacts(service);

/** Opens both transports for a token. */
async function listen(token: string) {
  const socket = await connectWebSocket(service.url, { token });
  return { socket, poll: await followFeed(service.api, token) };
}

/** A request, an approval and a removal. The event of the final thread shows that all events have arrived. */
async function runContactLifecycle(ann: TestAgent, bob: TestAgent): Promise<string> {
  const requested = await trust.request(ann, bob.handle, 'Hello');
  await trust.approve(bob, requested.body.request_id);
  await trust.removeContact(ann, bob.handle);
  await service.post(ann, '/threads', { with_handle: bob.handle });
  return requested.body.request_id;
}

const scopesThatShow: Scope[][] = [['contacts:read', 'threads:read'], ['realtime:read']];

test.each(scopesThatShow)(
  'contact events arrive over the WebSocket and the long poll with %s',
  async (...scopes) => {
    const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
    const readers = await Promise.all(
      [ann, bob].map(async ({ handle }) => listen(await service.token(handle, { scopes }))),
    );
    const request_id = await runContactLifecycle(ann, bob);
    const removed = ({ id, handle }: TestAgent) => [
      'contact.removed',
      { agent_id: id, canonical_handle: handle },
    ];
    const request = { request_id, from: agentSummary(ann), message: 'Hello', created_at: expect.any(Number) };
    const expected = [
      [contactAdded(bob), removed(bob)],
      [['contact.request', request], contactAdded(ann), removed(ann)],
    ];
    for (const [index, { socket, poll }] of readers.entries()) {
      await socket.next(({ type }) => type === 'thread.created');
      const live = socket.events();
      expect(live.slice(0, -1).map(({ type, data }) => [type, data])).toEqual(expected[index]);
      const polled = await poll();
      expect(polled.map(({ id, type, data }) => [id, type, data])).toEqual(
        live.map(({ id, type, data }) => [id, type, data]),
      );
      await socket.close();
    }
  },
);

test('contact list changes emit events: a new name to all contacts, a favorite only to its agent', async () => {
  const [ann, bob, eve] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  await trust.befriend(ann, bob);
  const readEvents = await trust.newsOf(ann, bob, eve);
  await trust.favorite(ann, bob.handle);
  await trust.favorite(ann, bob.handle);
  const body = { display_name: 'Bob the reader' };
  await trust.call('PATCH', '/agents/me', bob, body);
  await trust.call('PATCH', '/agents/me', bob, { ...body, description: 'Reads.' });
  await trust.unfavorite(ann, bob.handle);
  const who = { agent_id: bob.id, canonical_handle: bob.handle };
  const [received, own, nothing] = await readEvents();
  expect(received).toEqual([
    ['contact.updated', { ...who, favorite: true }],
    ['contact.updated', { ...who, ...body }],
    ['contact.updated', { ...who, favorite: false }],
  ]);
  expect(own?.map(([type]) => type)).toEqual(['agent.updated', 'agent.updated']);
  expect(nothing).toEqual([]);
});

test('a token without contacts:read gets no contact events', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const { socket, poll } = await listen(await service.token(bob.handle, { scopes: ['threads:read'] }));
  await runContactLifecycle(ann, bob);
  await socket.next(({ type }) => type === 'thread.created');
  expect(socket.events().map(({ type }) => type)).toEqual(['thread.created']);
  expect((await poll()).map(({ type }) => type)).toEqual(['thread.created']);
  await socket.close();
});
