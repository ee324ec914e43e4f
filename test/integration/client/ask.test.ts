import { expect, test } from 'vitest';
import { useSharedService } from '../../support/service.ts';
import { startConversation } from './setup.ts';

const service = useSharedService();

test('ask sends and returns the answer of another member', async () => {
  const { asAda, asBob, bob, thread_id } = await startConversation(service);
  const answered = asAda.ask(thread_id, 'Is it ready?');
  for await (const event of asBob.events()) {
    if (event.type !== 'message.created') continue;
    await asBob.messages.send({ thread_id, content: 'It is.', reply_to: event.data.id });
    break;
  }
  expect(await answered).toMatchObject({ content: 'It is.', sender: { canonical_handle: bob.handle } });
});

test('ask opens a thread with an agent, and returns null at its timeout', async () => {
  const { asAda, asBob, bob } = await startConversation(service);
  const target = { with_handle: bob.handle, subject: 'Order 7' };
  expect(await asAda.ask(target, 'Is it ready?', { timeoutMs: 300 })).toBeNull();
  const [thread] = (await asBob.threads.list().page()).threads;
  expect(thread).toMatchObject({ subject: 'Order 7', last_sequence: 1 });
});

test('ask takes a handle, and opens a thread', async () => {
  const { asAda, asBob, bob, thread_id } = await startConversation(service);
  const answered = asAda.ask(bob.handle, 'Is it ready?');
  for await (const event of asBob.events({ types: ['message.created'] })) {
    if (event.type !== 'message.created') continue;
    expect(event.data.thread_id).not.toBe(thread_id);
    await asBob.messages.send({ thread_id: event.data.thread_id, content: 'It is.' });
    break;
  }
  expect(await answered).toMatchObject({ content: 'It is.' });
});

test('an ask repeated with its key waits for the answer to the first one', async () => {
  const { asAda, asBob, thread_id } = await startConversation(service);
  const options = { idempotencyKey: 'order-7' };
  expect(await asAda.ask(thread_id, 'Is it ready?', { ...options, timeoutMs: 300 })).toBeNull();
  await asBob.messages.send({ thread_id, content: 'It is.' });
  expect(await asAda.ask(thread_id, 'Is it ready?', options)).toMatchObject({ content: 'It is.' });
  expect(await asAda.threads.get({ thread_id })).toMatchObject({ last_sequence: 2 });
});

test('a signal ends the wait', async () => {
  const { asAda, thread_id } = await startConversation(service);
  const stop = new AbortController();
  const call = asAda.ask(thread_id, 'Is it ready?', { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
});
