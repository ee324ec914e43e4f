import { expect, test } from 'vitest';
import { runAm, tokenEnv } from '../../../clients/am.ts';
import { runCliJson } from '../../../clients/cli.ts';
import { createOrganizationOf, signInPerson, signInWithAgent } from '../../console/signed-in-person.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { useInstallation } from '../setup.ts';
import { findRemote } from './setup.ts';

const here = useInstallation({ env: { REMOTE_CONFIRM: 'person' } });
const there = useInstallation({ env: { REMOTE_CONFIRM: 'person' } });

const list = '/console/remote-agents';
const page = `${list}/invitations`;
const addressIn = (text: string): string => /http\S+\/a2a\/-\/invitations\/[\w-]{43}/.exec(text)?.[0] ?? '';

/** Two people with an agent each. One invites, and the other one redeems the invitation. */
async function connectInConsole() {
  const [ada, bea] = [await signInWithAgent(here), await signInWithAgent(there)];
  const shown = await bea.fill(page, { fields: { agent_id: bea.mine.id } });
  const invitation = addressIn(shown.visibleText);
  const fields = { invitation, agent_id: ada.mine.id, handle: 'partner' };
  const added = await ada.fill(page, { fields }, `${page}/redeem`);
  await waitUntil(() => findRemote(there, bea.mine)).toBeDefined();
  const [remoteAda, remoteBea] = [await findRemote(there, bea.mine), await findRemote(here, ada.mine)];
  if (!remoteAda || !remoteBea) throw new Error('the invitation was not redeemed');
  for (const [service, { id }] of [
    [here, remoteBea],
    [there, remoteAda],
  ] as const)
    await waitUntil(async () => (await service.core.db.remoteAgents.find(id))?.identity?.fingerprint).toEqual(
      expect.any(String),
    );
  return { ada, bea, invitation, added, remoteAda, remoteBea };
}

test('two people connect their agents, and nothing is said before both have confirmed', async () => {
  const { ada, bea, invitation, added, remoteAda, remoteBea } = await connectInConsole();
  expect(added.visibleText).toContain('The other service is being asked for its agent.');
  expect(remoteBea.handle).toBe(`${ada.username}.partner`);
  expect((await bea.go(page)).text).not.toContain(invitation);
  const shown = await bea.go(`${list}/${remoteAda.id}`);
  for (const text of [
    'Waiting for you',
    `${here.url}/a2a/${ada.mine.handle.replace('.', '/')}`,
    'Of an invitation',
  ])
    expect(shown.visibleText).toContain(text);
  const [mine, theirs] = [
    { ...ada.mine, token: await here.token(ada.mine.handle) },
    { ...bea.mine, token: await there.token(bea.mine.handle) },
  ];
  await ada.fill(`${list}/${remoteBea.id}`, {}, `${list}/${remoteBea.id}/confirm`);
  const { thread_id } = await here.ask(mine, remoteBea, 'Is it there?');
  const record = () => here.core.db.remoteAgents.find(remoteBea.id);
  await waitUntil(async () => (await record())?.last_error).toContain('must confirm your agent first');
  expect((await record())?.state).toBe('ready');
  expect((await there.get(theirs, '/threads')).body.threads).toEqual([]);
  await bea.fill(`${list}/${remoteAda.id}`, {}, `${list}/${remoteAda.id}/confirm`);
  await here.pass(thread_id);
  await waitUntil(async () => (await there.get(theirs, '/threads')).body.threads.length).toBe(1);
});

test('an invitation is listed until it is ended or redeemed', async () => {
  const bea = await signInWithAgent(there);
  const shown = await bea.fill(page, { fields: { agent_id: bea.mine.id } });
  expect((await bea.go(page)).visibleText).toContain(`@${bea.mine.handle}`);
  const ended = await bea.fill(page, {}, `${page}/end`);
  expect(ended.visibleText).toContain('Invitation ended.');
  expect(ended.visibleText).toContain('No invitation waits');
  const ada = await signInWithAgent(here);
  const fields = { invitation: addressIn(shown.visibleText), agent_id: ada.mine.id };
  const added = await ada.fill(page, { fields }, `${page}/redeem`);
  await waitUntil(async () => (await ada.go(new URL(added.url).pathname)).visibleText).toContain('was used');
});

test('an invitation of this installation, or no invitation, is refused in the form', async () => {
  const bea = await signInWithAgent(there);
  const shown = await bea.fill(page, { fields: { agent_id: bea.mine.id } });
  for (const [invitation, problem] of [
    [addressIn(shown.visibleText), 'is of this service'],
    ['https://agent.example/card.json', 'is not the address of an invitation'],
  ] as const) {
    const refused = await bea.fill(page, { fields: { invitation, agent_id: bea.mine.id } }, `${page}/redeem`);
    expect([refused.status, refused.visibleText]).toEqual([400, expect.stringContaining(problem)]);
  }
});

test('members of an organization do not invite for it, and no person invites for agents of others', async () => {
  const [admin, member, eve] = [
    await signInPerson(there),
    await signInPerson(there),
    await signInPerson(there),
  ];
  const slug = await createOrganizationOf(there, { admins: [admin], members: [member] });
  const linked = await there.register({ handle: `${slug}.linked`, scope: 'member', member: member.username });
  const invite = async ({ fill }: typeof admin) =>
    (await fill(page, { fields: { agent_id: linked.id } }, page)).visibleText;
  expect(await invite(admin)).toContain('/a2a/-/invitations/');
  expect(await invite(member)).toContain(`Only admins of ${slug}`);
  expect(await invite(eve)).toContain('No such agent');
});

test('an operator invites on the command line, and an agent redeems it with am', async () => {
  const [ann, bob] = [await here.agent(), await there.agent()];
  const { DATABASE_URL = '', SECRET_KEY = '', PUBLIC_URL = '' } = there.env;
  const env = { DATABASE_URL, SECRET_KEY, PUBLIC_URL, REMOTE_AGENTS: 'true' };
  const invited = await runCliJson(env, ['remote', 'invite', bob.handle]);
  const { address } = invited as { address: string };
  expect(addressIn(address)).toBe(address);
  const io = { env: await tokenEnv(here.url, ann.token) };
  const { out } = await runAm(['remote', 'add', '--invitation', address, '--name', 'bob'], io);
  expect(out).toContain('its card is being read');
  await waitUntil(() => findRemote(there, bob)).toBeDefined();
  expect((await runAm(['remote', 'invite'], io)).out).toBe(`open ${here.url}${page}?agent=${ann.id}\n`);
});
