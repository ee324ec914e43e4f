import { expect, test, vi } from 'vitest';
import { startService, useSharedService } from '../../support/service.ts';
import { call, connectCaller } from '../ws/caller.ts';
import { connectModel, inboxOf, startWork } from './setup.ts';

const service = useSharedService();

test('a model claims, answers in the same step, and releases', async () => {
  const { worker, inbox, thread, openThread, send } = await startWork(service);
  const question = await send('when?');
  await send('other', await openThread());
  const { tool } = await connectModel(service, worker);
  const claimed = await tool('claim_messages', { max: '5', lease_seconds: 30, consumer: 'model' });
  expect(claimed.isError).toBe(false);
  const [first, second] = claimed.value.leases;
  expect(first).toMatchObject({ attempt: 1, relationship: 'none', event: { data: { content: 'when?' } } });
  expect(first.expires_at_text).toMatch(/^\d{4}-/);
  const answered = await tool('acknowledge_message', { lease_id: first.id, reply: 'tomorrow' });
  expect(answered.value.message).toMatchObject({ thread_id: thread, sequence: 2 });
  const messages = await service.sql<{ content: string; reply_to: string }>(
    'select content, reply_to from messages where thread_id = $1 and sequence = 2',
    [thread],
  );
  expect(messages).toEqual([{ content: 'tomorrow', reply_to: question.id }]);
  const lost = await tool('acknowledge_message', { lease_id: first.id });
  expect([lost.isError, lost.value.error.code]).toEqual([true, 'LEASE_LOST']);
  const released = await tool('release_message', { lease_id: second.id, reason: 'not mine' });
  expect(released.value).toMatchObject({ state: 'ready', attempts: 1 });
  const object = await tool('claim_messages', {});
  const replied = await tool('acknowledge_message', {
    lease_id: object.value.leases[0].id,
    reply: { content: '*done*', content_type: 'markdown' },
  });
  expect([replied.isError, replied.value.message.sequence]).toEqual([false, 2]);
  expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 0 });
});

test('a WebSocket calls the same operations, and waits for items', async () => {
  const { worker, inbox, send } = await startWork(service);
  const caller = await connectCaller(worker, service);
  const waiting = call(caller, 'claim_messages', { wait_seconds: 20 }, null);
  await send('one');
  const { status, output } = await waiting;
  expect([status, output.leases[0].event.data.content]).toEqual([200, 'one']);
  const lease_id = output.leases[0].id;
  const renewed = await call(caller, 'renew_lease', { lease_id, lease_seconds: 60 });
  expect(renewed.output).toMatchObject({ id: lease_id });
  const done = await call(caller, 'acknowledge_message', { lease_id, reply: { content: 'two' } });
  expect([done.status, done.output.message.content]).toEqual([200, 'two']);
  const lost = await call(caller, 'release_message', { lease_id });
  expect([lost.status, lost.error.code]).toEqual([409, 'LEASE_LOST']);
  const state = await call(caller, 'get_inbox', {}, null);
  expect(state.output).toEqual((await inbox.get()).body);
});

test('a waiting claim returns an empty list at its timeout, and when the process stops', async () => {
  const own = await startService({ worker: false });
  const agent = await own.agent();
  const inbox = inboxOf(own.api, agent);
  await inbox.turnOn();
  expect(await inbox.leases({ wait_seconds: 1 })).toEqual([]);
  const waiting = inbox.leases({ wait_seconds: 20 });
  await vi.waitFor(() => expect(own.parts.live.realtime.stats().get('poll')).toBe(1), { timeout: 20_000 });
  await own.stop();
  expect(await waiting).toEqual([]);
});
