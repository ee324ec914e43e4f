import type { Element } from 'domhandler';
import { findAll, textContent } from 'domutils';
import { expect, test } from 'vitest';
import { findForm, type PageResponse } from '../../../clients/form-browser.ts';
import { findLiveAddress, openLivePage } from '../../../clients/live-page.ts';
import { useSharedService } from '../../../support/service.ts';
import { tasksOf } from '../../tasks/setup.ts';
import { fillForm, readFormFields, signInWithAgent } from '../signed-in-person.ts';
import { addressOf, post, sendTo } from './conversation-fixtures.ts';

const service = useSharedService();

const { openTask, read, report, cancel } = tasksOf(service);

/** A question of another agent to the agent of a person. */
async function createWorld(fields: object = {}) {
  const [ada, other] = await Promise.all([signInWithAgent(service), service.agent()]);
  const task = await openTask(other, ada.mine, fields);
  return { ada, mine: ada.mine, other, task, address: addressOf(task.thread_id) };
}

/** A group of three in which an agent asks another one. The third belongs to a person too. */
async function createGroup() {
  const [asking, asked, third] = await Promise.all([
    signInWithAgent(service),
    signInWithAgent(service),
    signInWithAgent(service),
  ]);
  const participants = [asked.mine.handle, third.mine.handle];
  const { id } = await post(service, asking.mine, '/threads', { participants });
  const task = await openTask(asking.mine, asked.mine, { thread_id: id, due_in_seconds: 600 });
  return { asking, asked, third, task, address: addressOf(id) };
}

/** The button that answers a task. */
const isAnswer = (button: Element) => textContent(button).startsWith('Answer the task');

/** The forms and links of a page that are about a task. */
function listActions(page: PageResponse): string[] {
  const forms = page.forms.map(({ action }) => /\/tasks\/.*\/(\w+)$/.exec(action)?.[1] ?? '');
  const answers = page.elements('button').map((button) => (isAnswer(button) ? 'answer' : ''));
  return [...answers, ...forms].filter((name) => name !== '');
}

/** The text of the message with an id. */
function messageText(page: PageResponse, id: string): string {
  const [message] = findAll(({ attribs }) => attribs['id'] === id, page.elements('li'));
  return message ? textContent(message).replaceAll(/\s+/g, ' ') : '';
}

test('the message that asks shows state, age and sides, and the open page follows', async () => {
  const { ada, mine, other, task, address } = await createWorld({ due_in_seconds: 600 });
  const page = await ada.go(address);
  expect(page.visibleText).toContain(`1 open task: @${other.handle} asked @${mine.handle} just now`);
  const sides = `@${other.handle} asks @${mine.handle}, since `;
  expect(messageText(page, task.message_id)).toMatch(new RegExp(`Not begun ${sides}.*, due .*`));
  expect(listActions(page)).toEqual(['answer', 'reject']);
  const live = await openLivePage(service.url, ada, findLiveAddress(page));
  await report(mine, task.id, { state: 'working' });
  await expect.poll(live.shown).toContain('Working');
  await service.sql(`update tasks set overdue_at = due_at where id = '${task.id}'`);
  expect(messageText(await ada.go(address), task.message_id)).toContain('Overdue');
  await report(mine, task.id, { state: 'completed', message: 'At noon.' });
  await expect.poll(live.shown).toMatch(/Completed.*, ended /s);
  live.close();
  const ended = await ada.go(address);
  expect(ended.visibleText).not.toMatch(/open task|Overdue/);
  expect(listActions(ended)).toEqual([]);
});

test('the list shows the state of the open task to the people of its sides, and follows it', async () => {
  const { asking, asked, third, task } = await createGroup();
  const list = '/console/conversations';
  expect((await third.go(list)).visibleText).not.toContain('Task');
  expect((await asking.go(list)).visibleText).toContain('Task: not begun');
  const page = await asked.go(list);
  expect(page.visibleText).toContain('Task: not begun');
  const live = await openLivePage(service.url, asked, findLiveAddress(page));
  await report(asked.mine, task.id, { state: 'working' });
  await expect.poll(live.shown).toContain('Task: working');
  live.close();
  await service.sql(`update tasks set overdue_at = due_at where id = '${task.id}'`);
  expect((await asked.go(list)).visibleText).toContain('Task overdue');
  await cancel(asking.mine, task.id);
  expect((await asked.go(list)).visibleText).not.toContain('Task');
});

test('a person answers as the agent, also in a group', async () => {
  const { asked, task, address } = await createGroup();
  const page = await asked.go(address);
  const { value = '' } = page.elements('button').find(isAnswer)?.attribs ?? {};
  const answering = await asked.send(findForm(page, `${address}/messages`), { button: value });
  expect(readFormFields(answering, `${address}/messages`)).toMatchObject({ reply_to: task.message_id });
  const form = findForm(answering, `${address}/messages`);
  // An empty answer is refused, and the form stays an answer.
  const refused = await asked.send(form, { fields: { content: '' } });
  expect(refused.visibleText).toContain('Message can be empty only if');
  const sent = await asked.send(findForm(refused, `${address}/messages`), {
    fields: { content: 'At noon.' },
  });
  expect(sent.visibleText).toContain(`Sent as @${asked.mine.handle}.`);
  const { state, messages } = await read(asked.mine, task.id);
  expect(state).toBe('completed');
  expect(messages[1]).toMatchObject({ content: 'At noon.', reply_to: task.message_id, written_by: 'person' });
});

test('the client answers only what the task waits for', async () => {
  const { asking, asked, task, address } = await createGroup();
  expect(listActions(await asking.go(address))).toEqual(['cancel']);
  await report(asked.mine, task.id, { state: 'input_required', message: 'Which one?' });
  expect(listActions(await asked.go(address))).toEqual(['reject']);
  const page = await asking.go(address);
  expect(listActions(page)).toEqual(['answer', 'cancel']);
  const answering = await asking.go(`${address}?reply_to=${task.message_id}`);
  await asking.send(findForm(answering, `${address}/messages`), { fields: { content: 'The red one.' } });
  expect((await read(asked.mine, task.id)).state).toBe('working');
});

test('a person rejects as the asked agent, once', async () => {
  const { ada, other, task, address } = await createWorld();
  const form = findForm(await ada.go(address), `${address}/tasks/${task.id}/reject`);
  const page = await ada.send(form);
  expect(page.visibleText).toContain('Rejected. The other agent sees it.');
  expect(messageText(page, task.message_id)).toContain('Rejected @');
  expect(await read(other, task.id)).toMatchObject({ state: 'rejected', generation: 2 });
  expect((await ada.send(form)).visibleText).toContain('This task has ended: it is rejected.');
});

test('a person cancels as the client', async () => {
  const [ada, other] = await Promise.all([signInWithAgent(service), service.agent()]);
  const task = await openTask(ada.mine, other);
  const address = addressOf(task.thread_id);
  const page = await ada.go(address);
  expect(listActions(page)).toEqual(['cancel']);
  const canceled = await ada.send(findForm(page, `${address}/tasks/${task.id}/cancel`));
  expect(canceled.visibleText).toContain('Canceled. The other agent sees it.');
  expect(messageText(canceled, task.message_id)).toContain('Canceled @');
  expect((await read(other, task.id)).state).toBe('canceled');
});

test('of a task between own agents, each button acts as its side', async () => {
  const ada = await signInWithAgent(service);
  const second = await ada.agent('second');
  const [first, other] = [await openTask(ada.mine, second), await openTask(ada.mine, second)];
  for (const [{ id, thread_id }, name, state] of [
    [first, 'reject', 'rejected'],
    [other, 'cancel', 'canceled'],
  ] as const) {
    const page = await ada.go(addressOf(thread_id));
    expect(listActions(page)).toEqual(['answer', 'reject', 'cancel']);
    await ada.send(findForm(page, `${addressOf(thread_id)}/tasks/${id}/${name}`));
    expect((await read(ada.mine, id)).state).toBe(state);
  }
});

test('the person of another member of the group learns of no task, and ends none', async () => {
  const { asking, asked, third, task, address } = await createGroup();
  expect((await asking.go(address)).text).toContain(task.id);
  const page = await third.go(address);
  expect(messageText(page, task.message_id)).toContain('When does it arrive?');
  const hidden = new RegExp(`${task.id}|open task|Not begun|Canceled|, due `);
  expect(page.text).not.toMatch(hidden);
  expect(listActions(page)).toEqual([]);
  const replying = await third.go(`${address}?reply_to=${task.message_id}`);
  expect([replying.text.match(hidden), listActions(replying)]).toEqual([null, []]);
  const live = await openLivePage(service.url, third, findLiveAddress(page));
  for (const agent of [third.mine, asking.mine, asked.mine]) {
    for (const name of ['reject', 'cancel']) {
      const form = fillForm(page, `${address}/tasks/${task.id}/${name}`, { agent_id: agent.id });
      expect((await third.send(form)).visibleText).toMatch(/No such (task|agent)/);
    }
  }
  expect((await read(asking.mine, task.id)).state).toBe('submitted');
  await cancel(asking.mine, task.id);
  await sendTo(service, asking.mine, task.thread_id, 'Never mind');
  await expect.poll(live.shown).toContain('Never mind');
  expect(live.shown()).not.toMatch(hidden);
  live.close();
  expect((await third.go(address)).text).not.toMatch(hidden);
});

test('hostile text of a task stays text', async () => {
  const hostile = '</p></li><script>alert(1)</script><form method="post" action="/console/account">';
  const { ada, mine, other, task, address } = await createWorld({ subject: hostile, content: hostile });
  await report(mine, task.id, { state: 'input_required', message: hostile });
  await sendTo(service, other, task.thread_id, hostile, { reply_to: task.message_id });
  for (const query of ['', `?reply_to=${task.message_id}`, `?reply_to=${encodeURIComponent(hostile)}`]) {
    const page = await ada.go(`${address}${query}`);
    expect(messageText(page, task.message_id)).toContain(hostile);
    expect(page.text).not.toContain('<script>');
    expect(page.forms.map(({ action }) => action)).not.toContain('/console/account');
  }
});
