import { expect, test } from 'vitest';
import { findForm } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { fillForm, findFieldError, signInPerson } from '../signed-in-person.ts';
import { post } from './conversation-fixtures.ts';

const service = useSharedService();

const address = '/console/conversations/new';

async function createWriter() {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const form = findForm(await ada.go(address), address);
  const send = (handle: string, content = 'Good morning', options: object = {}) =>
    ada.send(form, { fields: { agent_id: mine.id, handle, content }, ...options });
  return { ada, mine, send };
}

test('a person starts a conversation as an agent: one thread, however often the form is sent', async () => {
  const { ada, mine, send } = await createWriter();
  const other = await service.agent();
  const list = await ada.go('/console/conversations');
  expect(list.links).toContain(address);
  const answers = await Promise.all(
    [1, 2, 3].map(() => send(`@${other.handle}`, 'One\r\nTwo', { follow: false })),
  );
  const places = new Set(answers.map(({ headers }) => headers.get('location')));
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
  expect(places.size).toBe(1);
  const page = await ada.go([...places][0] ?? '');
  expect(page.visibleText).toContain(`Sent as @${mine.handle}.`);
  const { body } = await service.get(other, '/threads');
  expect(body.threads).toHaveLength(1);
  const messages = await service.get(other, `/threads/${body.threads[0].id}/messages`);
  expect(messages.body.messages).toMatchObject([
    { content: 'One\nTwo', written_by: 'person', sender: { canonical_handle: mine.handle } },
  ]);
});

test('an agent that accepts only contacts: the page links to the contact request, also when it has blocked the sender', async () => {
  const pages = [];
  for (const isBlocked of [false, true]) {
    const { ada, mine, send } = await createWriter();
    const other = await service.agent({ inbound_policy: 'contacts_only' });
    if (isBlocked) await post(service, other, '/blocks', { handle: mine.handle });
    const page = await send(other.handle);
    const link = `/console/agents/${mine.id}/contacts/new?handle=${other.handle}`;
    expect(page.links).toContain(link);
    const request = findForm(await ada.go(link), `/console/agents/${mine.id}/contacts/new`);
    expect(Object.fromEntries(request.fields)['handle']).toBe(other.handle);
    pages.push([
      page.status,
      page.visibleText
        .replaceAll(other.handle, 'them')
        .replaceAll(mine.handle, 'me')
        .replaceAll(ada.username, 'ada'),
    ]);
  }
  expect(pages[0]).toEqual(pages[1]);
});

test('every other refusal is explained at its field, and the text is kept', async () => {
  const { ada, mine, send } = await createWriter();
  const blocked = await service.agent();
  await post(service, mine, '/blocks', { handle: blocked.handle });
  const refusals = [
    [await send('absent.agent'), 'handle', 'No such agent'],
    [await send('no handle'), 'handle', ''],
    [await send(mine.handle), undefined, 'is you'],
    [await send(blocked.handle), 'handle', 'You have blocked'],
    [await send(blocked.handle.replace('agent', 'x'), ''), 'content', 'empty'],
    [await send((await service.agent()).handle, 'x'.repeat(32_769)), 'content', 'at most'],
  ] as const;
  for (const [page, field, text] of refusals) {
    expect(page.status, text).toBeGreaterThanOrEqual(400);
    expect(page.status, text).toBeLessThan(500);
    expect(page.visibleText).toContain(text);
    if (field) expect(findFieldError(page, field), text).toContain(text);
  }
  expect(refusals[3][0].links).toContain(`/console/agents/${mine.id}/blocks`);
  await service.sql('update agents set paused = true where id = $1', [mine.id]);
  expect((await send((await service.agent()).handle)).visibleText).toContain('This agent is paused.');
  await service.sql('update agents set paused = false, can_initiate_threads = false where id = $1', [
    mine.id,
  ]);
  const refused = await send((await service.agent()).handle);
  expect(findFieldError(refused, 'agent_id')).toContain('cannot start threads');
  expect(refused.visibleText).toContain('Good morning');
  expect((await ada.go(`${address}?handle=%00%22%3E%3Cb%3E`)).elements('b')).toEqual([]);
});

test('a person cannot write as an agent of another person', async () => {
  const [ada, eve] = [await signInPerson(service), await signInPerson(service)];
  const [theirs, other] = [await ada.agent(), await service.agent()];
  await eve.agent();
  const fields = { agent_id: theirs.id, handle: other.handle, content: 'As somebody else' };
  const page = await eve.send(fillForm(await eve.go('/console'), address, fields));
  expect(page.status).toBe(404);
  const { body } = await service.get(other, '/threads');
  expect(body.threads).toEqual([]);
});

test('a person without agents is led to the first one', async () => {
  const ada = await signInPerson(service);
  expect((await ada.go(address)).visibleText).toContain('Create your first agent');
});
