import { outcomeOf } from '../../../clients/rest.ts';
import { describe, expect, test } from 'vitest';
import { findForm } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { fillForm, signInPerson } from '../signed-in-person.ts';
import {
  addressOf,
  createConversation,
  createRoles,
  listMessages,
  roleCases,
  sendTo,
  startThread,
} from './conversation-fixtures.ts';
import { use } from '../../../support/use.ts';

const service = useSharedService();

const createWorld = () => createConversation(service, 'Who decides?');

test('a person writes as the agent, and every member sees that a person wrote it', async () => {
  const { ada, mine, other, id } = await createWorld();
  const form = findForm(await ada.go(addressOf(id)), `${addressOf(id)}/messages`);
  const fields = { content: 'I do.\r\nAnd at once.' };
  const page = await ada.send(form, { fields });
  expect(page.visibleText).toContain(`Sent as @${mine.handle}.`);
  expect(page.visibleText).toMatch(/Your agent.*Written by a person.*I do\. And at once\./);
  // The same form twice is one message.
  await ada.send(form, { fields });
  const messages = await listMessages(service, other, id);
  expect(messages).toMatchObject([
    { content: 'Who decides?', written_by: 'agent' },
    { content: 'I do.\nAnd at once.', written_by: 'person', sender: { canonical_handle: mine.handle } },
  ]);
  expect(messages).toHaveLength(2);
  const events = await service.get(other, '/events?cursor=earliest');
  const created = events.body.events.filter(({ type }: { type: string }) => type === 'message.created');
  expect(created.map(({ data }: { data: { written_by: string } }) => data.written_by)).toEqual([
    'agent',
    'person',
  ]);
  const search = await service.get(other, `/threads/${id}`);
  expect(search.body).toMatchObject({ last_sequence: 2 });
});

test('no token can claim that a person wrote a message', async () => {
  const { mine, id } = await createWorld();
  const claim = { content: 'x', written_by: 'person' };
  const refused = await service.post(mine, `/threads/${id}/messages`, claim);
  expect(outcomeOf(refused)).toBe('400 VALIDATION_ERROR');
  const sent = await sendTo(service, mine, id, 'x', { metadata: { written_by: 'person' } });
  expect(sent.written_by).toBe('agent');
});

test('of several own agents the person chooses one', async () => {
  const ada = await signInPerson(service);
  const [one, two] = [await ada.agent('one'), await ada.agent('two')];
  const id = await startThread(service, one, [two]);
  const form = findForm(await ada.go(addressOf(id)), `${addressOf(id)}/messages`);
  await ada.send(form, { fields: { agent_id: two.id, content: 'From two' } });
  expect(await listMessages(service, one, id)).toMatchObject([{}, { sender: { id: two.id } }]);
});

test.each([
  ['', 'Message can be empty only if'],
  ['x'.repeat(32_769), 'Message must be at most 32768 bytes'],
])('a text that is refused is shown again: %j', async (content, message) => {
  const { ada, mine, id } = await createWorld();
  const page = await ada.fill(addressOf(id), { fields: { content } }, `${addressOf(id)}/messages`);
  expect(page.status).toBeGreaterThanOrEqual(400);
  expect(page.visibleText).toContain(message);
  expect(page.visibleText).toContain('Who decides?');
  expect(findForm(page, `${addressOf(id)}/messages`).fields).toContainEqual(['content', content]);
  expect(await listMessages(service, mine, id)).toHaveLength(1);
});

test('neither a closed thread nor a paused or retired agent takes a message', async () => {
  const { ada, mine, other, id } = await createWorld();
  const form = findForm(await ada.go(addressOf(id)), `${addressOf(id)}/messages`);
  const token = await service.token(mine.handle, { scopes: ['agents:write', 'threads:write'] });
  const pause = (paused: boolean) => service.patch({ token }, `/agents/${mine.id}`, { paused });
  await pause(true);
  expect((await ada.send(form, { fields: { content: 'Paused' } })).visibleText).toContain(
    'This agent is paused',
  );
  await pause(false);
  await service.patch({ token }, `/threads/${id}`, { status: 'closed' });
  const refused = await ada.send(form, { fields: { content: 'Closed' } });
  expect(refused.status).toBe(403);
  expect(refused.visibleText).toContain('This conversation is not active');
  expect(refused.visibleText).toContain('Not sent. This thread is closed');
  const kept = findForm(refused, `${addressOf(id)}/messages`);
  expect(kept.fields).toContainEqual(['content', 'Closed']);
  await service.patch({ token }, `/threads/${id}`, { status: 'active' });
  expect((await ada.send(kept)).visibleText).toContain(`Sent as @${mine.handle}.`);
  expect(await listMessages(service, mine, id)).toMatchObject([{}, { content: 'Closed' }]);
  await service.sql('update agents set retired_at = 1 where id = $1', [other.id]);
  const late = await ada.send(form, { fields: { content: 'Late' } });
  expect(late.visibleText).toContain(`${other.handle} is retired and cannot receive messages.`);
  expect(findForm(late, `${addressOf(id)}/messages`).fields).toContainEqual(['content', 'Late']);
});

describe('writing as', () => {
  const roles = use(() => createRoles(service));
  test.each(roleCases)('%s in the thread of a %s agent: %s', async (name, kind, isAllowed) => {
    const person = roles.people[name];
    const thread_id = roles.threads[kind];
    const before = await listMessages(service, roles.stranger, thread_id);
    const form = fillForm(await person.go('/console'), `${addressOf(thread_id)}/messages`, {
      agent_id: roles.agents[kind].id,
      content: 'A word',
    });
    expect((await person.send(form)).status).toBe(isAllowed ? 200 : 404);
    const after = await listMessages(service, roles.stranger, thread_id);
    expect(after.length - before.length).toBe(isAllowed ? 1 : 0);
  });
});
