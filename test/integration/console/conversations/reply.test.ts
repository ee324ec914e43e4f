import { textContent } from 'domutils';
import { expect, test } from 'vitest';
import { findForm } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { fillForm, readFormFields, signInWithAgent } from '../signed-in-person.ts';
import { createConversation, listMessages, sendTo } from './conversation-fixtures.ts';

const service = useSharedService();

const createWorld = () => createConversation(service, '<b>First</b> & "question"');

test('a person replies to any message, which the answer then quotes with a link', async () => {
  const { ada, mine, other, id, address } = await createWorld();
  const second = await sendTo(service, other, id, 'And the second?');
  const page = await ada.go(address);
  const form = findForm(page, `${address}/messages`);
  const texts = form.buttons.map(({ text }) => text).filter((text) => text.startsWith('Reply'));
  expect(texts).toEqual(['Reply to message 1', 'Reply to message 2']);
  const replying = await ada.send(form, { fields: { content: 'So far' }, button: 'Reply to message 1' });
  expect(replying.text).toContain('<bdi>&lt;b>First&lt;/b> &amp; &quot;question&quot;</bdi>');
  expect(readFormFields(replying, `${address}/messages`)).toMatchObject({ content: 'So far' });
  const sent = await ada.send(findForm(replying, `${address}/messages`), { fields: { content: 'Yes' } });
  const [first, , reply] = await listMessages(service, mine, id);
  expect(reply).toMatchObject({ content: 'Yes', reply_to: first.id });
  const quoted = sent.elements('p').filter(({ attribs }) => attribs['class'] === 'reply-to');
  expect(quoted.map((each) => textContent(each))).toEqual([
    `Answers @${other.handle} <b>First</b> & "question"`,
  ]);
  expect(sent.links).toContain(`#${first.id}`);
  const plain = await ada.go(address);
  expect(readFormFields(plain, `${address}/messages`)['reply_to']).toBeUndefined();
  const toSecond = await ada.send(findForm(replying, `${address}/messages`), { button: second.id });
  expect(readFormFields(toSecond, `${address}/messages`)).toMatchObject({
    content: 'So far',
    reply_to: second.id,
  });
  const toNone = await ada.send(findForm(toSecond, `${address}/messages`), { button: 'No reply' });
  expect(readFormFields(toNone, `${address}/messages`)).toMatchObject({ content: 'So far' });
  expect(readFormFields(toNone, `${address}/messages`)['reply_to']).toBeUndefined();
});

test('the quote of a message on an earlier page leads to it', async () => {
  const { ada, other, id, address } = await createWorld();
  const [first] = await listMessages(service, other, id);
  for (let number = 2; number <= 52; number += 1) await sendTo(service, other, id, `Number ${number}`);
  await sendTo(service, other, id, 'About the first', { reply_to: first.id });
  const page = await ada.go(address);
  const link = page.elements('a').find((each) => textContent(each) === 'Answers an earlier message');
  const found = await ada.go(link?.attribs['href'] ?? '');
  expect(found.elements('li').map(({ attribs }) => attribs['id'])).toContain(first.id);
  const form = findForm(found, `${address}/messages`);
  const replying = await ada.send(form, { fields: { content: 'Kept' }, button: first.id });
  const fields = readFormFields(replying, `${address}/messages`);
  expect(fields).toMatchObject({ content: 'Kept', reply_to: first.id });
});

test('what is no message of the conversation is not answered, nor found', async () => {
  const { ada, other, address } = await createWorld();
  const elsewhere = await service.thread(other, await service.agent());
  const foreign = await sendTo(service, other, elsewhere, 'Hidden words');
  for (const wanted of [foreign.id, 'msg_0', '"><b>x</b>']) {
    const query = new URLSearchParams({ reply_to: wanted });
    const page = await ada.go(`${address}?${query.toString()}`);
    expect(page.status).toBe(200);
    expect(readFormFields(page, `${address}/messages`)['reply_to']).toBeUndefined();
    const message = new URLSearchParams({ message: wanted });
    const missing = await ada.go(`${address}?${message.toString()}`);
    expect([missing.status, missing.text.includes('Hidden words')]).toEqual([404, false]);
  }
});

test('shows a preview, which sends nothing and keeps what was entered, and sends Markdown', async () => {
  const { ada, mine, id, address } = await createWorld();
  const hostile = '**bold** <img src=x onerror=alert(1)> [x](javascript:alert(1))';
  const form = findForm(await ada.go(address), `${address}/messages`);
  const press = (fields: Record<string, string>) => ada.send(form, { fields, button: 'Preview' });
  const shown = await press({ content: hostile, markdown: 'true' });
  expect(shown.status).toBe(200);
  expect(shown.elements('strong').map((each) => textContent(each))).toContain('bold');
  expect([
    shown.elements('img').filter(({ attribs }) => attribs['onerror']),
    await listMessages(service, mine, id),
  ]).toEqual([[], [expect.anything()]]);
  expect(readFormFields(shown, `${address}/messages`)).toMatchObject({ content: hostile });
  const plain = await press({ content: hostile });
  expect(plain.elements('strong').map((each) => textContent(each))).not.toContain('bold');
  await ada.send(form, { fields: { content: hostile, markdown: 'true' } });
  const [, sent] = await listMessages(service, mine, id);
  expect(sent).toMatchObject({ content: hostile, content_type: 'markdown', written_by: 'person' });
});

test('no preview of a conversation of others', async () => {
  const { address } = await createWorld();
  const eve = await signInWithAgent(service);
  const page = await eve.send(fillForm(await eve.go('/console'), `${address}/draft`, { content: 'x' }));
  expect(page.status).toBe(404);
});

test('a closed conversation accepts no reply', async () => {
  const { ada, mine, id, address } = await createWorld();
  await service.patch(mine, `/threads/${id}`, { status: 'closed' });
  const page = await ada.go(address);
  expect(page.text).not.toContain('Reply to');
});
