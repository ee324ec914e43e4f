import { expect, test } from 'vitest';
import { createHousehold } from '../../../clients/contacts.ts';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { findLiveAddress, openLivePage } from '../../../clients/live-page.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { signInPerson } from '../signed-in-person.ts';
import { createRoles, readableThreads, sendTo, startThread } from './conversation-fixtures.ts';

const service = useSharedService();

async function listWaits({ token }: TestAgent) {
  const { status, body } = await service.get({ token }, '/waits');
  expect(status).toBe(200);
  return body.waits;
}

test('a message that expects a reply waits until the other member writes, and a plain one never waits', async () => {
  const [one] = (await createHousehold(service, 'one')) as [TestAgent];
  const other = await service.agent();
  const id = await startThread(service, other, [one], { subject: 'Prices' });
  expect(await listWaits(one)).toEqual([
    {
      thread_id: id,
      subject: 'Prices',
      task_id: null,
      message_id: expect.stringMatching(/^msg_/),
      from: { id: other.id, canonical_handle: other.handle },
      for: { id: one.id, canonical_handle: one.handle },
      since: expect.any(Number),
      overdue: false,
      received: false,
      state: 'offline',
    },
  ]);
  await service.post(one, `/threads/${id}/read`, { up_to_sequence: 1 });
  expect(await listWaits(one)).toMatchObject([{ received: true }]);
  await sendTo(service, one, id, 'Ten');
  expect(await listWaits(one)).toEqual([]);
  await sendTo(service, other, id, 'Thanks');
  expect(await listWaits(one)).toEqual([]);
  await sendTo(service, one, id, 'Anything else?', { metadata: { expects_reply: true } });
  expect(await listWaits(one)).toMatchObject([{ from: { id: one.id }, for: { id: other.id } }]);
  await service.patch(one, `/threads/${id}`, { status: 'closed' });
  expect(await listWaits(one)).toEqual([]);
});

test('an open task waits, for its client when it asks back, and in a group one reply answers a message', async () => {
  const [one] = (await createHousehold(service, 'one')) as [TestAgent];
  const [other, third] = await Promise.all([service.agent(), service.agent()]);
  const { body: task } = await service.post(other, '/tasks', { with_handle: one.handle, content: 'When?' });
  expect(await listWaits(one)).toMatchObject([
    { task_id: task.id, from: { id: other.id }, for: { id: one.id } },
  ]);
  await service.post(one, `/tasks/${task.id}/update`, { state: 'input_required', message: 'Which?' });
  expect(await listWaits(one)).toMatchObject([
    { task_id: task.id, from: { id: one.id }, for: { id: other.id } },
  ]);
  await service.post(other, `/tasks/${task.id}/cancel`);
  expect(await listWaits(one)).toEqual([]);
  const group = await startThread(service, one, [other, third]);
  const [first, second, ...more] = await listWaits(one);
  expect([more, first.message_id]).toEqual([[], second.message_id]);
  await sendTo(service, other, group, 'By the way');
  expect(await listWaits(one)).toHaveLength(2);
  await sendTo(service, other, group, 'Yes', { reply_to: first.message_id });
  expect(await listWaits(one)).toEqual([]);
});

test('the state is a person, a third agent, or presence', async () => {
  const [one, two, three] = (await createHousehold(service, 'one', 'two', 'three')) as [
    TestAgent,
    TestAgent,
    TestAgent,
  ];
  const stranger = await service.agent();
  const toOne = await startThread(service, stranger, [one], { subject: 'Stranger to one' });
  await startThread(service, one, [two], { subject: 'One to two' });
  await startThread(service, two, [three], { subject: 'Two to three' });
  await startThread(service, three, [one], { subject: 'Three to one' });
  const state = async () =>
    Object.fromEntries(
      (await listWaits(one)).map((wait: { subject: string; state: string }) => [wait.subject, wait.state]),
    );
  expect(await state()).toEqual({
    'Stranger to one': 'waits_for_agent',
    'One to two': 'waits_for_agent',
    'Two to three': 'waits_for_agent',
    'Three to one': 'waits_for_agent',
  });
  const question = { agent_id: one.id, action: 'request_contact', target: stranger.handle } as const;
  await service.write((work) => openApproval(work, { ...question, detail: {} }));
  expect((await state())['Stranger to one']).toEqual('waits_for_person');
  await sendTo(service, one, toOne, 'For your people', { metadata: { asks_person: true } });
  expect((await state())['Stranger to one']).toEqual('waits_for_person');
});

test('an agent with a connection is online and silent', async () => {
  const [one] = (await createHousehold(service, 'one')) as [TestAgent];
  await startThread(service, await service.agent(), [one]);
  const token = await service.token(one.handle, { audience: 'ws' });
  const socket = await connectWebSocket(service.url, { token });
  await expect.poll(async () => (await listWaits(one))[0].state).toBe('silent');
  await socket.close();
});

test('the page has a list, is live, and shows only what the person may read', async () => {
  const roles = await createRoles(service);
  for (const [name, readable] of Object.entries(readableThreads)) {
    const page = await roles.people[name as keyof typeof roles.people].go('/console/waits');
    expect(page.text.match(/waits for/g)?.length ?? 0).toBe(readable.length);
  }
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  expect((await ada.go('/console/waits')).visibleText).toContain('No agent waits');
  const page = await openLivePage(service.url, ada, findLiveAddress(await ada.go('/console/waits')));
  const hostile = `<script>alert(1)</script>`;
  await startThread(service, await service.agent(), [mine], { subject: hostile });
  await expect.poll(page.shown).toContain('&lt;script>');
  page.close();
});
