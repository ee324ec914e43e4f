import { expect, test } from 'vitest';
import type { OpenTask } from '../../../packages/client/src/main.ts';
import { fakeService } from '../../../packages/client/src/testing/fake-service.ts';
import { useSharedService } from '../../support/service.ts';
import { clientOf, startConversation } from './setup.ts';

const service = useSharedService();

/** The next task of a worker. */
async function next(work: AsyncGenerator<OpenTask, void>): Promise<OpenTask> {
  const { value } = await work.next();
  if (!value) throw new Error('the work has ended');
  return value;
}

test('a worker says working, asks back, and completes; the client waits for each', async () => {
  const { asAda, asBob, bob } = await startConversation(service);
  const opened = await asAda.tasks.create({ with_handle: bob.handle, content: 'When does it arrive?' });
  const stop = new AbortController();
  const work = asBob.tasks.work({ signal: stop.signal });

  const task = await next(work);
  expect([task.id, task.messages[0]?.content]).toEqual([opened.id, 'When does it arrive?']);
  await task.working('I look.');
  await task.askBack('Which order?');
  const again = next(work);
  const question = await asAda.tasks.wait(opened.id);
  expect(question).toMatchObject({ state: 'input_required', generation: 3 });
  expect(question?.messages.at(-1)?.content).toBe('Which order?');

  await asAda.messages.send({ thread_id: opened.thread_id, content: '1042' });
  const answered = asAda.tasks.wait(opened.id, { afterGeneration: question?.generation ?? 0 });
  const resumed = await again;
  expect([resumed.state, resumed.messages.at(-1)?.content]).toEqual(['working', '1042']);
  await resumed.complete('Friday.', { day: 'Friday' });
  const done = await answered;
  expect(done?.state).toBe('completed');
  expect(done?.messages.at(-1)).toMatchObject({
    content: 'Friday.',
    artifact: true,
    data: { day: 'Friday' },
  });

  const end = work.next();
  stop.abort();
  expect(await end).toEqual({ done: true, value: undefined });
});

test('work that was interrupted comes again, and the others end as the worker says', async () => {
  const { asAda, asBob, bob } = await startConversation(service);
  const ids: string[] = [];
  for (const content of ['one', 'two', 'three']) {
    const { id } = await asAda.tasks.create({ with_handle: bob.handle, content });
    ids.push(id);
  }
  for await (const task of asBob.tasks.work()) {
    expect(task.id).toBe(ids[0]);
    await task.working();
    break;
  }
  const work = asBob.tasks.work();
  const ends = [(task: OpenTask) => task.complete('1'), (task: OpenTask) => task.fail('2')];
  for (const [at, end] of [...ends, (task: OpenTask) => task.reject('3')].entries()) {
    const task = await next(work);
    expect(task.id).toBe(ids[at]);
    await end(task);
  }
  const states = ids.map(async (id) => (await asAda.tasks.wait(id))?.state);
  expect(await Promise.all(states)).toEqual(['completed', 'failed', 'rejected']);
  await work.return();
});

test('a wait ends at its time or by its signal', async () => {
  const { asAda, bob } = await startConversation(service);
  const { id } = await asAda.tasks.create({ with_handle: bob.handle, content: 'Well?' });
  expect(await asAda.tasks.wait(id, { timeoutMs: 10 })).toBeNull();
  const stop = new AbortController();
  const waiting = asAda.tasks.wait(id, { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test('ask gives the task of its question, and returns when it ends without an answer', async () => {
  const { asAda, asBob, bob } = await startConversation(service);
  const notes: string[] = [];
  const answered = asAda.ask(bob.handle, 'Is it ready?', {
    dueInSeconds: 7_200,
    onTask: ({ id, due_at, created_at }) => notes.push(id, String((due_at ?? 0) - created_at)),
  });
  const task = await next(asBob.tasks.work());
  await expect.poll(() => notes).toEqual([task.id, '7200000']);
  await task.reject();
  expect(await answered).toBeNull();
});

test('the fake service moves tasks with its clock and survives failures', async () => {
  const fake = await fakeService();
  try {
    const [asAda, asBob] = ['ann.a', 'bob.b'].map((handle) => clientOf(fake, fake.agent(handle)));
    if (!asAda || !asBob) throw new Error('both agents have a client');
    const { id } = await asAda.tasks.create({ with_handle: 'bob.b', content: 'Well?', due_in_seconds: 60 });
    await asBob.inbox.claimMessages({ lease_seconds: 30 });
    const list = async (overdue: boolean) =>
      (await asAda.tasks.list({ overdue }).page()).tasks.map(({ state }) => state);
    expect(await list(false)).toEqual(['working']);
    fake.clock.advance(60_000);
    expect(await list(true)).toEqual(['submitted']);
    const waiting = asAda.tasks.wait(id);
    fake.failNext({ status: 503, times: 3 });
    await (await next(asBob.tasks.work())).complete('Yes.');
    expect((await waiting)?.state).toBe('completed');
    const other = await asAda.tasks.create({ with_handle: 'bob.b', content: 'And now?' });
    fake.clock.advance(31 * 86_400_000);
    expect((await asAda.tasks.get({ task_id: other.id })).state).toBe('failed');
  } finally {
    await fake.stop();
  }
});
