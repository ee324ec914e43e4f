import { expect, onTestFinished, test } from 'vitest';
import { createCardKey } from '../../support/a2a/remote-card.ts';
import { startRemoteServer } from '../../support/a2a/remote-server.ts';
import {
  createOrganizationOf,
  fillForm,
  findFieldError,
  signInPerson,
  signInWithAgent,
} from '../console/signed-in-person.ts';
import { useService } from '../../support/service.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { useInstallation } from './setup.ts';

const service = useInstallation({ env: { REMOTE_CONFIRM: 'person' } });
const without = useService({ worker: false, env: { REMOTE_AGENTS: 'false' } });

const path = '/console/remote-agents';

/** A person with an agent, who adds an agent of another system on the page. */
async function meetInConsole({ isSigned = false, fields = {} } = {}) {
  const server = await startRemoteServer();
  onTestFinished(() => server.close());
  if (isSigned) server.signWith(createCardKey());
  const ada = await signInWithAgent(service);
  const added = await ada.fill(`${path}/new`, { fields: { card_url: server.cardUrl, ...fields } });
  const id = /agt_\w+/.exec(new URL(added.url).pathname)?.[0] ?? '';
  const record = () => service.core.db.remoteAgents.find(id);
  await waitUntil(async () => (await record())?.identity?.fingerprint).toEqual(expect.any(String));
  return { server, ada, added, id, record, address: `${path}/${id}` };
}

test('a person adds an agent, sees what its card says, and confirms it', async () => {
  const { server, ada, added, record, address } = await meetInConsole({
    isSigned: true,
    fields: { handle: 'freight', kind: 'bearer', token: 'top-secret' },
  });
  expect(added.visibleText).toContain('Added. Its card is being read.');
  const list = await ada.go(path);
  expect(list.visibleText).toMatch(/Invitations\s?Add an agent.*Remote Agent.*Waiting for you/s);
  const shown = await ada.go(address);
  const { identity } = (await record()) ?? {};
  for (const text of [
    `@${ada.username}.freight`,
    server.cardUrl,
    'Example',
    'An agent of another system.',
    'answer',
    `${server.url}/a2a`,
    `${server.url}/token`,
    identity?.thumbprints[0] ?? '-',
    identity?.fingerprint ?? '-',
    'Waiting for you',
    'None yet',
    'Without your confirmation it is removed in 6 days',
  ])
    expect(shown.visibleText).toContain(text);
  expect(shown.text).not.toContain('top-secret');

  const confirmed = await ada.fill(address, {}, `${address}/confirm`);
  expect(confirmed.visibleText).toContain('Confirmed. Messages are sent to it now.');
  expect(confirmed.visibleText).toContain('Ready');
  expect(await record()).toMatchObject({ state: 'ready', confirmed: identity, expires_at: null });
  expect(confirmed.forms.map(({ action }) => action)).not.toContain(`${address}/confirm`);
  const [entry] = await service.sql<{ by_kind: string }>(
    `select by_kind from audit_log where act = 'remote_agent.confirmed' and agent_id = $1`,
    [(await record())?.agent_id],
  );
  expect(entry?.by_kind).toBe('person');
});

test('a message that waits is sent after the confirmation', async () => {
  const { server, ada, id, address } = await meetInConsole();
  const mine = { ...ada.mine, token: await service.token(ada.mine.handle) };
  await service.ask(mine, { handle: `${ada.username}.127-0-0-1` }, 'direct one');
  expect(server.texts()).toEqual([]);
  await ada.fill(address, {}, `${address}/confirm`);
  await waitUntil(() => server.texts()).toEqual(['direct one']);
  await waitUntil(async () => (await service.core.db.remoteAgents.find(id))?.last_delivered_at).toEqual(
    expect.any(Number),
  );
  expect((await ada.go(address)).visibleText).not.toContain('None yet');
});

test('a conversation shows what is being sent, and what was not delivered and why', async () => {
  const { server, ada, id, address } = await meetInConsole();
  const mine = { ...ada.mine, token: await service.token(ada.mine.handle) };
  const lastError = async () => (await service.core.db.remoteAgents.find(id))?.last_error;
  await ada.fill(address, {}, `${address}/confirm`);
  const handle = `${ada.username}.127-0-0-1`;
  const error = { code: -32_001, message: 'No such <b>address</b>.' };
  server.failNext('SendMessage', { status: 200, body: { error } });
  const { thread_id } = await service.ask(mine, { handle }, 'silent one');
  const read = async () => (await ada.go(`/console/conversations/${thread_id}`)).visibleText;
  await waitUntil(read).toContain(`@${handle} undeliverable`);
  expect(await read()).toContain('No such <b>address</b>.');

  server.failNext('SendMessage', { status: 503, headers: { 'Retry-After': '3600' } });
  await service.send(mine, thread_id, 'silent two');
  expect(await read()).toContain(`@${handle} sending`);
  // The record has the failure of the first message until then.
  await waitUntil(lastError).not.toContain('No such');
  expect((await ada.go(address)).text).toContain('Send again');
  await ada.fill(address, {}, `${address}/refresh`);
  await waitUntil(read).toContain(`@${handle} delivered`);
  expect(await read()).not.toContain('sending');
});

test('a fingerprint that has changed since the page was shown is not confirmed', async () => {
  const { server, ada, record, address } = await meetInConsole({ isSigned: true });
  const stale = await ada.go(address);
  const before = (await record())?.identity?.fingerprint;
  server.signWith(createCardKey());
  const checked = await ada.fill(address, {}, `${address}/refresh`);
  expect(checked.visibleText).toContain('Its card is being read.');
  await waitUntil(async () => (await record())?.identity?.fingerprint).not.toBe(before);
  const form = stale.forms.find(({ action }) => action === `${address}/confirm`);
  if (!form) throw new Error('no form');
  const refused = await ada.send(form);
  expect(refused.visibleText).toContain('The agent has changed since this page was shown.');
  expect((await record())?.state).toBe('waiting');
});

test('another key after the confirmation is named, and stops the delivery until it is confirmed', async () => {
  const { server, ada, record, address } = await meetInConsole({ isSigned: true });
  await ada.fill(address, {}, `${address}/confirm`);
  server.signWith(createCardKey());
  await ada.fill(address, {}, `${address}/refresh`);
  await waitUntil(async () => (await record())?.state).toBe('waiting');
  expect((await ada.go(address)).visibleText).toContain('Its card has changed');
  await ada.fill(address, {}, `${address}/confirm`);
  expect((await record())?.state).toBe('ready');
});

test('the form names what is wrong with the entered values', async () => {
  const ada = await signInPerson(service);
  const fill = (fields: Record<string, string>) => ada.fill(`${path}/new`, { fields });
  const wrongUrl = await fill({ card_url: 'https://10.0.0.1/' });
  expect([wrongUrl.status, findFieldError(wrongUrl, 'card_url')]).toEqual([
    400,
    expect.stringContaining('must lead to a public address'),
  ]);
  const noSecret = await fill({
    card_url: 'https://agent.example/',
    kind: 'client_credentials',
    client_id: 'me',
    token: '',
  });
  expect(findFieldError(noSecret, 'client_secret')).toContain('is required');
});

test('the name and the credential are changed, and the agent is removed', async () => {
  const { ada, record, address } = await meetInConsole();
  const named = await ada.fill(address, { fields: { display_name: 'Freight' } }, `${address}/name`);
  expect([named.title, named.visibleText]).toEqual([
    expect.stringContaining('Freight'),
    expect.stringContaining('Name saved.'),
  ]);
  const fields = { kind: 'bearer', token: 'top-secret' };
  const replaced = await ada.fill(address, { fields }, `${address}/credential`);
  expect(replaced.visibleText).toContain('Credential replaced.');
  expect((await record())?.credential_kind).toBe('bearer');
  const removed = await ada.fill(`${address}/remove`);
  expect(removed.visibleText).toContain('No agents of other systems');
  expect((await ada.go(address)).status).toBe(404);
});

test('other people do not see it, and the pages of agents have no place for it', async () => {
  const { ada, id, address } = await meetInConsole();
  const eve = await signInPerson(service);
  for (const page of [address, `${address}/remove`]) expect((await eve.go(page)).status).toBe(404);
  expect((await eve.go(path)).visibleText).toContain('No agents of other systems');
  const own = await eve.go(`${path}/new`);
  for (const action of ['confirm', 'refresh', 'remove', 'name', 'credential']) {
    const { url, visibleText } = await eve.send(fillForm(own, `${address}/${action}`, { fingerprint: 'x' }));
    expect([action, url, visibleText]).toEqual([
      action,
      expect.any(String),
      expect.stringMatching(/No such agent|Not found/i),
    ]);
  }
  expect(await service.core.db.remoteAgents.find(id)).toMatchObject({ state: 'waiting' });
  for (const page of ['', '/settings', '/credentials', '/webhooks'])
    expect((await ada.go(`/console/agents/${id}${page}`)).status).toBe(404);
  expect((await ada.go('/console/agents')).text).not.toContain(id);
});

test('an admin adds one for an organization, and its members do not see it', async () => {
  const [admin, member] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [admin], members: [member] });
  const fields = { card_url: 'https://agent.example/', organization: slug };
  const added = await admin.fill(`${path}/new`, { fields });
  expect(added.visibleText).toContain(`@${slug}.agent-example`);
  const { pathname } = new URL(added.url);
  expect((await member.go(pathname)).status).toBe(404);
  expect((await member.go(`${path}/new`)).visibleText).not.toContain(slug);
});

test('without the setting there are no pages', async () => {
  const ada = await signInPerson(without);
  expect((await ada.go(path)).status).toBe(404);
  expect((await ada.go('/console/agents')).text).not.toContain(path);
});
