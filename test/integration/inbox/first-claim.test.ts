import { expect, test } from 'vitest';
import { useSharedService } from '../../support/service.ts';
import { call, connectCaller } from '../ws/caller.ts';
import { connectModel, inboxOf, type Lease, textsOf } from './setup.ts';

const service = useSharedService();

/** An agent that never had an inbox, and one that writes to it. */
async function startWithoutInbox() {
  const [asker, worker] = await Promise.all([service.agent(), service.agent()]);
  const open = async () => {
    return service.thread(asker, worker);
  };
  const send = async (thread: string, content: string) => {
    const sent = await service.post(asker, `/threads/${thread}/messages`, { content });
    expect(sent.status).toBe(201);
    return sent.body;
  };
  const markRead = (thread: string, up_to_sequence: number) =>
    service.post(worker, `/threads/${thread}/read`, { up_to_sequence });
  return { worker, inbox: inboxOf(service.api, worker), open, send, markRead };
}

test('the first claim turns the inbox on, from the oldest unread message', async () => {
  const { worker, inbox, open, send, markRead } = await startWithoutInbox();
  const [first, second] = [await open(), await open()];
  await send(first, 'read');
  await markRead(first, 1);
  await send(second, 'unread');
  await send(first, 'new');
  expect((await inbox.get()).body.error).toMatchObject({
    code: 'INBOX_NOT_FOUND',
    message: expect.stringContaining('PUT /v1/inbox'),
  });
  const { tool, close } = await connectModel(service, worker);
  expect((await tool('get_inbox')).value).toEqual({ enabled: false });
  const claimed = await tool('claim_messages', { max: 10 });
  expect(textsOf(claimed.value.leases)).toEqual(['unread', 'new']);
  expect(claimed.value.leases.map(({ id }: Lease) => id)).toEqual(
    claimed.value.leases.map(({ lease_id }: { lease_id: string }) => lease_id),
  );
  expect((await tool('get_inbox')).value).toMatchObject({ enabled: true, ready: 0, leased: 2 });
  await close();
  expect((await inbox.get()).body).toMatchObject({
    types: ['message.created'],
    lease_seconds: 60,
    leased: 2,
  });
});

test('the first claim starts at the acknowledged position, or at the later one of the session', async () => {
  const { worker, open, send } = await startWithoutInbox();
  const thread = await open();
  await send(thread, 'acknowledged');
  const page = await service.get(worker, '/events');
  await service.post(worker, '/events/ack', { cursor: page.body.cursor });
  await send(thread, 'seen in the session');
  const { tool, close } = await connectModel(service, worker);
  const seen = await tool('wait_for_events');
  expect(seen.value.events).toHaveLength(1);
  await send(thread, 'new');
  const claimed = await tool('claim_messages', { max: 10 });
  expect(textsOf(claimed.value.leases)).toEqual(['new']);
  await close();
});

test('the first claim over REST starts at the acknowledged position', async () => {
  const { worker, inbox, open, send } = await startWithoutInbox();
  const thread = await open();
  const first = await send(thread, 'acknowledged');
  const page = await service.get(worker, '/events');
  expect(page.body.events.at(-1).data.id).toBe(first.id);
  await service.post(worker, '/events/ack', { cursor: page.body.cursor });
  await send(thread, 'new');
  const leases = await inbox.leases({ max: 10 });
  expect(textsOf(leases)).toEqual(['new']);
  expect(leases).toMatchObject([{ lease_id: leases[0]?.id }]);
  const renewed = await inbox.renew(leases[0]?.id ?? '');
  expect(renewed.body).toMatchObject({ id: leases[0]?.id, lease_id: leases[0]?.id });
});

test('first claims at once share the inbox, and a waiting one gets the first message', async () => {
  const { worker, inbox, open, send } = await startWithoutInbox();
  const caller = await connectCaller(worker, service);
  const waiting = call(caller, 'claim_messages', { wait_seconds: 20 }, null);
  const thread = await open();
  const others = await Promise.all(Array.from({ length: 4 }, () => inbox.claim()));
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await send(thread, 'one');
  const { status, output } = await waiting;
  expect([status, textsOf(output.leases)]).toEqual([200, ['one']]);
  await caller.socket.close();
});

test('after delete_inbox a claim names what turns the inbox on, as each transport calls it', async () => {
  const { worker, inbox, open, send } = await startWithoutInbox();
  await inbox.claim();
  expect((await inbox.turnOff()).status).toBe(204);
  await send(await open(), 'later');
  const code = 'INBOX_NOT_FOUND';
  expect((await inbox.claim()).body.error).toMatchObject({
    code,
    message: 'The inbox of this agent is off. Turn it on with PUT /v1/inbox.',
  });
  const message = 'The inbox of this agent is off. Turn it on with set_inbox.';
  const caller = await connectCaller(worker, service);
  expect((await call(caller, 'claim_messages', {}, null)).error).toMatchObject({ code, message });
  await caller.socket.close();
  const { tool, close } = await connectModel(service, worker);
  const refused = await tool('claim_messages');
  expect([refused.isError, refused.value.error]).toEqual([true, expect.objectContaining({ code, message })]);
  expect((await tool('get_inbox')).value).toEqual({ enabled: false });
  expect((await tool('set_inbox', { from: 'earliest' })).value).toMatchObject({
    ready: 1,
    lease_seconds: 60,
  });
  expect(textsOf((await tool('claim_messages')).value.leases)).toEqual(['later']);
  await close();
});

test('a claim that is refused turns no inbox on', async () => {
  const { worker, inbox } = await startWithoutInbox();
  const blind = await service.token(worker.handle, { scopes: ['threads:write'] });
  expect((await inboxOf(service.api, { token: blind }).claim()).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await inbox.get()).body.error.code).toBe('INBOX_NOT_FOUND');
});
