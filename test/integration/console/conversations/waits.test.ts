import { expect, test } from 'vitest';
import { createHousehold } from '../../../clients/contacts.ts';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { findLiveAddress, openLivePage } from '../../../clients/live-page.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';
import { allTestScopes, type TestAgent, useSharedService } from '../../../support/service.ts';
import { fillForm, signInPerson } from '../signed-in-person.ts';
import { addressOf, createRoles, readableThreads, sendTo, startThread } from './conversation-fixtures.ts';

const service = useSharedService();

const reads = { scopes: [...allTestScopes, 'conversations:read'] } as const;

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

test('a person reminds the other agent once an hour, and stops waiting for a message and for a task', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent('agent', reads);
  const other = await service.agent();
  const thread = await startThread(service, mine, [other], { subject: 'Prices' });
  const { body: task } = await service.post(mine, '/tasks', { with_handle: other.handle, content: 'When?' });
  const lists = async () => (await listWaits(mine)).map((wait: { message_id: string }) => wait.message_id);
  const [asked, given] = await lists();
  expect(given).toBe(task.message_id);
  const page = await ada.go('/console/waits');
  expect(page.visibleText).toContain('2 questions');
  const key = `${asked}-${other.id}`;
  const reminded = await ada.send(fillForm(page, '/console/waits/remind', { wait: key }));
  expect(reminded.visibleText).toContain(`Reminded @${other.handle}.`);
  const repeated = await ada.send(fillForm(page, '/console/waits/remind', { wait: key }));
  expect(repeated.visibleText).toContain(`@${other.handle} was already reminded in this hour.`);
  const { body } = await service.get(other, `/threads/${thread}/messages`);
  expect(body.messages).toMatchObject([{ reply_to: asked, written_by: 'person' }, { id: asked }]);
  expect(await lists()).toEqual([asked, given]);
  await ada.send(fillForm(page, '/console/waits/stop', { wait: key }));
  expect(await lists()).toEqual([given]);
  await ada.send(fillForm(page, '/console/waits/stop', { wait: `${given}-${other.id}` }));
  expect(await lists()).toEqual([]);
  expect((await service.get(other, `/tasks/${task.id}`)).body.state).toBe('canceled');
  const gone = await ada.send(fillForm(page, '/console/waits/stop', { wait: key }));
  expect(gone.visibleText).toContain('no longer open');
});

test('no person changes a question of others, and a reminder never answers what the agent is asked', async () => {
  const [ada, bob] = [await signInPerson(service), await signInPerson(service)];
  const [mine, his] = [await ada.agent('agent', reads), await bob.agent('agent', reads)];
  const question = { with_handle: his.handle, content: 'When?' };
  const { body: task } = await service.post(mine, '/tasks', question);
  const [{ message_id }] = await listWaits(mine);
  const key = `${message_id}-${his.id}`;
  const page = await bob.go('/console/waits');
  expect(page.visibleText).toContain('Answer');
  expect(page.visibleText).not.toContain('Stop waiting');
  for (const change of ['remind', 'stop'])
    expect((await bob.send(fillForm(page, `/console/waits/${change}`, { wait: key }))).visibleText).toContain(
      'not yours',
    );
  expect(await listWaits(mine)).toHaveLength(1);
  await service.post(his, '/tasks', { thread_id: task.thread_id, content: 'And you?' });
  expect(await listWaits(mine)).toHaveLength(2);
  const listed = await ada.go('/console/waits');
  expect(listed.visibleText).toContain('Stop waiting');
  expect(listed.visibleText).not.toContain('Remind');
  const refused = await ada.send(fillForm(listed, '/console/waits/remind', { wait: key }));
  expect(refused.visibleText).toContain('not yours');
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

test('500 older questions of a muted thread hide no other question', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent('agent', reads);
  const other = await service.agent();
  const start = (subject: string) => startThread(service, other, [mine], { subject });
  const [muted, open] = [await start('Muted'), await start('Open')];
  await ada.fill(addressOf(muted), { button: 'mute' }, `${addressOf(muted)}/mark`);
  await service.sql(
    `insert into expected_replies
     select (r).* from expected_replies e, generate_series(1, 500) n, jsonb_populate_record(e,
       jsonb_build_object('message_id', 'msg_' || $1 || n, 'created_at', e.created_at - 3600000)) r where e.thread_id = $1`,
    [muted],
  );
  await service.sql('update expected_replies set created_at = created_at - 1200000 where thread_id = $1', [
    open,
  ]);
  const pages = [await ada.go('/console'), await ada.go('/console/waits')];
  for (const page of pages) expect(page.text).toContain(addressOf(open));
  expect(pages[0]?.text).not.toContain(addressOf(muted));
});
