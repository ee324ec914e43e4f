import { outcomeOf } from '../../../clients/rest.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { readAllEvents } from '../../../clients/feed.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { useContacts } from '../../../clients/contacts.ts';

const service = useSharedService();

async function conversation() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread = await service.thread(ann, bob);
  const id: string = thread;
  return { id, ann, bob };
}

const send = (id: string, by: TestAgent, content: string, key: string = randomUUID()) =>
  service.post(by, `/threads/${id}/messages`, { content }, { key });

const get = async (path: string, by: TestAgent) => (await service.get(by, path)).body;

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

test('concurrent sends share transactions; each has its own response, and refused ones leave nothing', async () => {
  const [closed, blocked, ...good] = await Promise.all([
    conversation(),
    conversation(),
    conversation(),
    conversation(),
    conversation(),
  ]);
  const { token } = closed.ann;
  await service.patch({ token }, `/threads/${closed.id}`, { status: 'closed' });
  await useContacts(service).block(blocked.bob, blocked.ann.handle);
  const [answers, ...refused] = await Promise.all([
    Promise.all(
      good.flatMap(({ id, ann, bob }) =>
        times(12, (at) => send(id, at % 3 === 2 ? bob : ann, `message ${at}`)),
      ),
    ),
    send(blocked.id, blocked.ann, 'refused'),
    send(closed.id, closed.ann, 'too late'),
    send(good[0].id, closed.bob, 'not mine'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(refused.map(outcomeOf)).toEqual(['403 NOT_ALLOWED', '403 THREAD_CLOSED', '404 THREAD_NOT_FOUND']);
  for (const [at, { id, ann, bob }] of good.entries()) {
    const sent = answers.slice(at * 12, at * 12 + 12).map(({ body }) => body);
    const inOrder = sent.toSorted((one, other) => one.sequence - other.sequence);
    expect(inOrder.map(({ sequence }) => sequence)).toEqual(times(12, (place) => place + 1));
    expect((await get(`/threads/${id}/messages?order=asc`, bob)).messages).toEqual(inOrder);
    const { last_message_at } = await get(`/threads/${id}`, ann);
    expect(last_message_at).toBe(inOrder.at(-1).created_at);
    const created = (await readAllEvents(service.core, bob)).filter(({ type }) => type === 'message.created');
    expect(created).toHaveLength(12);
  }
  expect((await get(`/threads/${blocked.id}/messages`, blocked.ann)).messages).toEqual([]);
  const text = 'select distinct xmin::text from messages where thread_id = any($1)';
  const transactions = await service.sql(text, [good.map(({ id }) => id)]);
  expect(transactions.length).toBeLessThan(answers.length);
});

test('a locked thread does not delay other threads', async () => {
  const [held, free] = await Promise.all([conversation(), conversation()]);
  const holding = await service.core.database.begin();
  await holding.query({ text: 'select from threads where id = $1 for update' }, [held.id]);
  let answered = 0;
  const waiting = times(3, () => send(held.id, held.ann, 'in time').finally(() => (answered += 1)));
  const others = await Promise.all(times(6, () => send(free.id, free.ann, 'concurrent')));
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 201));
  expect(answered).toBe(0);
  await holding.commit();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([201, 201, 201]);
});
