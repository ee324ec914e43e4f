import { expect, test } from 'vitest';
import { applyChanges } from '../../../src/services/agents/update.ts';
import { useService } from '../../support/service.ts';
import { inboxOf } from '../inbox/setup.ts';
import { idOf, reviewsOf } from './setup.ts';

const service = useService({ worker: false });
const { conversation, send, approve, deny, contents } = reviewsOf(service);

const key = 'one-key';

test('a reply in review keeps its item without a lease; approval acknowledges it, and denial returns it', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const inbox = inboxOf(service.api, mine);
  await inbox.turnOn({ max_attempts: 1 });
  const { body: task } = await service.post(stranger, '/tasks', {
    thread_id: thread,
    with_handle: mine.handle,
    content: 'When?',
  });
  const states = async () => {
    const { ready, leased, in_review } = (await inbox.get()).body;
    const { state } = (await service.get(stranger, `/tasks/${task.id}`)).body;
    return { ready, leased, in_review, state };
  };
  const [lease] = await inbox.leases();
  const reply = { reply: 'Tomorrow.' };
  const acknowledge = (id: string) => inbox.acknowledge(id, reply, { key });
  const held = await acknowledge(lease?.id ?? '');
  expect(held.status).toBe(202);
  expect(await states()).toEqual({ ready: 0, leased: 0, in_review: 1, state: 'working' });
  expect(idOf(await acknowledge(lease?.id ?? ''))).toBe(idOf(held));
  expect((await inbox.release(lease?.id ?? '')).body.error.code).toBe('LEASE_LOST');
  expect(await inbox.leases()).toEqual([]);
  await deny(idOf(held), 'Ask first.');
  expect(await states()).toEqual({ ready: 1, leased: 0, in_review: 0, state: 'submitted' });
  const [second] = await inbox.leases();
  expect(second?.attempt).toBe(1);
  const next = await inbox.acknowledge(second?.id ?? '', reply);
  await approve(idOf(next));
  expect(await states()).toEqual({ ready: 0, leased: 0, in_review: 0, state: 'completed' });
  expect(await contents(stranger, thread)).toEqual(['When?', 'Tomorrow.']);
});

test('a task whose reply is in review is submitted again when the inbox is turned off', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const inbox = inboxOf(service.api, mine);
  await inbox.turnOn();
  const question = { thread_id: thread, with_handle: mine.handle, content: 'When?' };
  const { body: task } = await service.post(stranger, '/tasks', question);
  const [lease] = await inbox.leases();
  expect((await inbox.acknowledge(lease?.id ?? '', { reply: 'Tomorrow.' })).status).toBe(202);
  expect((await inbox.turnOff()).status).toBe(204);
  expect((await service.get(stranger, `/tasks/${task.id}`)).body.state).toBe('submitted');
});

test('a review that ends without a decision returns its item, and the attempt does not count', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const inbox = inboxOf(service.api, mine);
  await inbox.turnOn({ max_attempts: 1 });
  await send(stranger, thread);
  const [lease] = await inbox.leases();
  const held = await inbox.acknowledge(lease?.id ?? '', { reply: 'x' });
  expect(held.status).toBe(202);
  const yesterday = Date.now() - 1;
  await service.sql(`update inbox_items set expires_at = $2 where agent_id = $1 and review_id is not null`, [
    mine.id,
    yesterday,
  ]);
  await service.sql(`update approvals set expires_at = $2 where id = $1`, [idOf(held), yesterday]);
  const [again] = await inbox.leases();
  expect(again?.attempt).toBe(1);
  await expect(approve(idOf(held))).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
});

test('pausing the agent keeps the item of a review', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const inbox = inboxOf(service.api, mine);
  await inbox.turnOn();
  await send(stranger, thread);
  const [lease] = await inbox.leases();
  const held = await inbox.acknowledge(lease?.id ?? '', { reply: 'Later' });
  const pause = (paused: boolean) =>
    service.write(async (work) => {
      const agent = await work.db.agents.lock(mine.id);
      if (agent) await applyChanges(work, agent, { paused }, []);
    });
  await pause(true);
  await expect(approve(idOf(held))).rejects.toMatchObject({ code: 'AGENT_PAUSED' });
  await pause(false);
  await approve(idOf(held));
  expect(await contents(stranger, thread)).toEqual(['May it leave?', 'Later']);
});
