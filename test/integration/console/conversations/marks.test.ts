import { textContent } from 'domutils';
import { expect, test } from 'vitest';
import { findForm, type PageResponse } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { createOrganizationOf, fillForm, type SignedInPerson, signInPerson } from '../signed-in-person.ts';
import { addressOf, createConversation, sendTo, startThread } from './conversation-fixtures.ts';

const service = useSharedService();

const path = '/console/conversations';

async function listed(person: SignedInPerson, query = ''): Promise<string[]> {
  const { text } = await person.go(`${path}${query}`);
  return [...text.matchAll(/conversations\/(thd_\w{26})"/g)].map(([, id = '']) => id);
}

const formOf = (page: PageResponse, id: string) => findForm(page, `${addressOf(id)}/mark`);

/** Presses a button of the head of a conversation. */
const press = async (person: SignedInPerson, id: string, button: string) =>
  person.send(formOf(await person.go(addressOf(id)), id), { button });

/** The column of unread messages of the first agent. */
const countUnread = async (person: SignedInPerson) =>
  (await person.go('/console/agents')).elements('td').map((cell) => textContent(cell))[1];

test('done takes a conversation out of the list and of what is unread, until the next message', async () => {
  const { ada, other, id } = await createConversation(service, 'Look at this');
  expect(await countUnread(ada)).toBe('1');
  const list = await press(ada, id, 'done');
  expect(list.url).toMatch(/\/console\/conversations$/);
  expect(list.visibleText).toContain('Done. It comes back with the next message.');
  expect([await listed(ada), await listed(ada, '?unread=true')]).toEqual([[], []]);
  expect([await listed(ada, '?mark=done'), await listed(ada, '?mark=muted')]).toEqual([[id], []]);
  expect(await countUnread(ada)).toBe('');
  expect((await ada.go(addressOf(id))).visibleText).not.toContain('1 unread');
  await sendTo(service, other, id, 'And at this');
  expect([await listed(ada), await listed(ada, '?unread=true'), await listed(ada, '?mark=done')]).toEqual([
    [id],
    [id],
    [],
  ]);
  expect(await countUnread(ada)).toBe('2');
});

test('a message that the page had not shown is not done with it', async () => {
  const { ada, other, id } = await createConversation(service, 'Look at this');
  const page = await ada.go(addressOf(id));
  await sendTo(service, other, id, 'Wait');
  await ada.send(formOf(page, id), { button: 'done' });
  expect(await listed(ada)).toEqual([id]);
});

test('the notice takes a mark back, once', async () => {
  const { ada, id } = await createConversation(service, 'Look at this');
  const done = await press(ada, id, 'done');
  const back = await ada.send(formOf(done, id), { button: 'Undo' });
  expect(new URL(back.url).pathname).toBe(addressOf(id));
  expect(back.visibleText).toContain('Open again.');
  expect(await listed(ada)).toEqual([id]);
  expect((await ada.go('/console')).visibleText).not.toContain('Undo');
});

test('the buttons of a row return to the list with its filters', async () => {
  const { ada, id } = await createConversation(service, 'Look at this');
  const list = await ada.send(formOf(await ada.go(`${path}?unread=true`), id), { button: 'mute' });
  expect(list.url).toContain(`${path}?unread=true`);
  expect(list.visibleText).toContain('No conversation matches');
  const open = await ada.send(formOf(await ada.go(`${path}?mark=muted`), id), { button: 'unmute' });
  expect(open.url).toContain(`${path}?mark=muted`);
  expect(await listed(ada, '?unread=true')).toEqual([id]);
});

test('a muted conversation stays in the list, is not unread, and shows only questions to a person on Home', async () => {
  const { ada, mine, other, id } = await createConversation(service, 'Chatter');
  await service.sql('update expected_replies set created_at = created_at - 660000 where thread_id = $1', [
    id,
  ]);
  expect((await ada.go('/console')).text).toContain(`${addressOf(id)}"`);
  const page = await press(ada, id, 'mute');
  expect(new URL(page.url).pathname).toBe(addressOf(id));
  expect((await ada.go(path)).visibleText).toMatch(/Muted/);
  expect([await listed(ada), await listed(ada, '?mark=muted'), await listed(ada, '?unread=true')]).toEqual([
    [id],
    [id],
    [],
  ]);
  expect(await countUnread(ada)).toBe('');
  expect((await ada.go('/console')).visibleText).toContain('Nothing needs you.');
  await sendTo(service, other, id, 'May I?', { metadata: { asks_person: true } });
  expect((await ada.go('/console')).visibleText).toMatch(/May I\?/);
  await sendTo(service, mine, id, 'Yes');
  await press(ada, id, 'unmute');
  await sendTo(service, other, id, 'More chatter');
  expect(await listed(ada, '?unread=true')).toEqual([id]);
});

test('a mark is of one person, who may read the conversation', async () => {
  const [one, two, stranger] = [
    await signInPerson(service),
    await signInPerson(service),
    await signInPerson(service),
  ];
  const slug = await createOrganizationOf(service, { admins: [one, two] });
  const open = { visibility: 'public', inbound_policy: 'open' } as const;
  const shared = await service.register({ handle: `${slug}.desk`, ...open });
  const id = await startThread(service, await service.agent(), [shared]);
  await press(one, id, 'done');
  expect([await listed(one), await listed(two)]).toEqual([[], [id]]);
  const form = fillForm(await stranger.go('/console'), `${addressOf(id)}/mark`, {
    mark: 'done',
    sequence: '1',
  });
  const refused = await stranger.send(form);
  const absent = await stranger.send({ ...form, action: form.action.replace(/.{6}\/mark$/, '000000/mark') });
  expect([refused.status, absent.status]).toEqual([404, 404]);
  expect(refused.title).toBe(absent.title);
});

test.each([
  [{ sequence: '2' }],
  [{ sequence: '-1' }],
  [{ sequence: '1e99' }],
  [{ sequence: 'NaN' }],
  [{ mark: 'archive' }],
])('%j changes nothing', async (fields) => {
  const { ada, id } = await createConversation(service, 'Look at this');
  const page = await ada.go(addressOf(id));
  const form = fillForm(page, `${addressOf(id)}/mark`, { mark: 'done', sequence: '1', ...fields });
  expect((await ada.send(form)).status).toBe(400);
  expect(await listed(ada)).toEqual([id]);
});
