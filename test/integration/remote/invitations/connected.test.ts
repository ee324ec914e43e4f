import { expect, test } from 'vitest';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { accept, connect, findRemote, invite, threadOf } from './setup.ts';
import { storyOf, useInstallation } from '../setup.ts';

const here = useInstallation();
const there = useInstallation();

test('two agents that an invitation connected talk in one thread of each side', async () => {
  const { ann, bob, remoteBob, remoteAnn } = await connect(here, there);
  expect(await here.readRemote(ann, remoteBob.id)).toMatchObject({
    credential: 'invitation',
    only_with: ann.handle,
    card_url: `${there.url}/a2a/${bob.handle.replace('.', '/')}/.well-known/agent-card.json`,
  });
  const { thread_id, task_id } = await here.ask(ann, remoteBob, 'When does it arrive?');
  const thread = await threadOf(there, bob);
  expect((await there.messages(bob, thread))[0]).toMatchObject({ sender: { id: remoteAnn.id } });
  await there.send(bob, thread, 'Tomorrow.');
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
  await there.send(bob, thread, 'At noon.');
  await waitUntil(async () => (await here.messages(ann, thread_id)).length).toBe(3);
  await here.send(ann, thread_id, 'Thanks.', { metadata: { no_reply_expected: true } });
  await waitUntil(async () => (await there.messages(bob, thread)).length).toBe(4);
  const story = ['here: When does it arrive?', 'there: Tomorrow.', 'there: At noon.', 'here: Thanks.'];
  expect(storyOf(await here.messages(ann, thread_id), ann)).toEqual(story);
  expect(storyOf(await there.messages(bob, thread), remoteAnn)).toEqual(story);
  expect((await here.get(ann, '/threads')).body.threads).toHaveLength(1);
  expect((await there.get(bob, '/threads')).body.threads).toHaveLength(1);
});

test('the inviting side begins too, with an agent that is private and takes contacts only', async () => {
  const fields = { visibility: 'private', inbound_policy: 'contacts_only' };
  const { ann, bob, remoteAnn, remoteBob } = await connect(here, there, fields);
  const { thread_id, task_id } = await there.ask(bob, remoteAnn, 'Is it there?');
  const thread = await threadOf(here, ann);
  await here.send(ann, thread, 'Not yet.');
  await waitUntil(async () => (await there.readTask(bob, task_id)).state).toBe('completed');
  const story = ['here: Is it there?', 'there: Not yet.'];
  expect(storyOf(await there.messages(bob, thread_id), bob)).toEqual(story);
  expect(storyOf(await here.messages(ann, thread), remoteBob)).toEqual(story);
});

test('no other agent of the owner writes to it', async () => {
  const { remoteBob, ann } = await connect(here, there);
  const [owner] = ann.handle.split('.');
  const other = await here.register({ handle: `${owner}.other` }, { scopes });
  const refused = await here.post(other, '/threads/ask', { with_handle: remoteBob.handle, content: 'Hello' });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'NOT_ALLOWED']);
});

test('a second redeemer is refused, and sees the same as for an unknown invitation', async () => {
  const [ann, bob, eve] = [await here.agent(), await there.agent(), await here.agent()];
  const address = await invite(there, bob);
  await accept(here, ann, address);
  await waitUntil(() => findRemote(there, bob)).toBeDefined();
  const second = await accept(here, eve, address);
  const problem = async (id: string) => (await here.readRemote(eve, id)).card_error;
  await waitUntil(() => problem(second.id)).toContain('was used');
  const third = await accept(here, eve, `${there.url}/a2a/-/invitations/unknown`, { handle: 'third' });
  await waitUntil(() => problem(third.id)).toBe(await problem(second.id));
});
