import { expect, test } from 'vitest';
import { findForm } from '../../clients/form-browser.ts';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { newUsername, signInPerson } from '../../integration/console/signed-in-person.ts';
import { useService } from '../../support/service.ts';
import { connectModel, contentsOf } from './model.ts';

const service = useService();

/** A person with agents as they are registered by default: unlisted, and open to contacts only. */
async function createPersonWithAgents(...names: string[]) {
  const username = newUsername('person');
  const person = await signInPerson(service, username);
  const agents = await Promise.all(names.map((name) => service.register({ handle: `${username}.${name}` })));
  const models = await Promise.all(
    agents.map(async ({ handle }) => connectModel(service, await service.token(handle, { audience: 'mcp' }))),
  );
  return { person, agents, models };
}

test('two strangers who know only a handle become contacts and talk', async () => {
  const ada = await createPersonWithAgents('helper');
  const bob = await createPersonWithAgents('reader');
  const [model] = ada.models;
  const [mine] = ada.agents;
  const [theirs] = bob.agents;
  if (!model || !mine || !theirs) throw new Error('an agent is missing');
  const asBob = (method: string, path: string, body?: object) =>
    requestRest(method, `${service.api}${path}`, { token: theirs.token, ...(body && { body }) });
  const socket = await connectWebSocket(service.url, { token: theirs.token });

  // Search does not list the agent; its handle shows it.
  const { agents: found } = await model.use('search_agents', { query: theirs.handle });
  expect(found).not.toContainEqual(expect.objectContaining({ canonical_handle: theirs.handle }));
  const handle = `@${theirs.handle.toUpperCase()}`;
  expect(await model.use('get_agent_card', { handle })).toMatchObject({
    handle: theirs.handle,
    relationship: 'none',
  });
  const refused = await model.call('create_thread', { with_handle: handle, initial_message: 'Hello' });
  expect(refused).toMatchObject({ isError: true, error: { code: 'NOT_CONTACTS' } });
  expect(refused.error['message']).toContain('request_contact');

  const request = { handle, message: 'May I write to you?' };
  const { error } = await model.call('request_contact', request);
  expect(error).toMatchObject({ code: 'APPROVAL_REQUIRED', approval_url: expect.any(String) });
  const page = await ada.person.go(new URL(String(error['approval_url'])).pathname);
  const decided = await ada.person.send(findForm(page, new URL(page.url).pathname), { button: 'approve' });
  expect(decided.visibleText).toContain('Until then you can undo it.');

  const { data } = await socket.next(({ type }) => type === 'contact.request');
  expect(data).toMatchObject({ from: { canonical_handle: mine.handle }, message: 'May I write to you?' });
  expect((await asBob('POST', `/contacts/requests/${mine.handle}/approve`)).status).toBe(200);

  const waited = await model.use('wait_for_events', { types: ['contact.added'] });
  expect(waited).toMatchObject({ events: [{ data: { canonical_handle: theirs.handle } }] });
  const asking = model.use('ask', { with_handle: theirs.handle, content: 'What do you read?' });
  const { data: question } = await socket.next(({ type }) => type === 'message.created');
  const { thread_id } = Object(question);
  await asBob('POST', `/threads/${thread_id}/messages`, { content: 'Everything.' });
  expect(await asking).toMatchObject({ reply: { content: 'Everything.', relationship: 'contact' } });
  await socket.close();
});

test('the two agents of one person find each other and talk without asking anybody', async () => {
  const { agents, models } = await createPersonWithAgents('planner', 'builder');
  const [planner, builder] = models;
  const handle = agents[1]?.handle ?? '';
  if (!planner || !builder) throw new Error('an agent is missing');
  const { agents: found } = await planner.use('search_agents', { query: handle });
  expect(found).toContainEqual(expect.objectContaining({ canonical_handle: handle }));
  const question = await planner.use('ask', { with_handle: handle, content: 'Build it.', wait_seconds: 0 });
  const { thread_id } = Object(question['message']);
  const received = await builder.use('wait_for_events', { types: ['message.created'] });
  expect(contentsOf(received)).toEqual(['Build it.']);
  expect(received).toMatchObject({ events: [{ relationship: 'same_owner' }] });
  await builder.use('send_message', { thread_id, content: 'Done.' });
  expect(
    await planner.use('wait_for_reply', { thread_id, after_sequence: question['after_sequence'] }),
  ).toMatchObject({ reply: { content: 'Done.' } });
  expect(await planner.use('request_contact', { handle })).toMatchObject({ status: 'approved' });
  expect(await planner.use('list_contacts')).toMatchObject({ contacts: [{ canonical_handle: handle }] });
  expect(await builder.use('get_thread', { thread_id })).toMatchObject({
    messages: [{ content: 'Build it.' }, { content: 'Done.', relationship: 'self' }],
  });
});
