import { expect, test } from 'vitest';
import { z } from 'zod';
import { auditActions } from '../../../packages/core/src/domain/auth/audit.ts';
import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { useService } from '../../support/service.ts';
import { useContacts } from '../../clients/contacts.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';

const secret = 'the secret of a service for audit tests';
const service = useService({ worker: false, env: { SECRET_KEY: secret } });

const env = () => ({ DATABASE_URL: service.core.config.DATABASE_URL, SECRET_KEY: secret });
const log = z.strictObject({
  acts: z.array(
    z.strictObject({
      id: z.string().startsWith('aud_'),
      at: z.int(),
      act: z.enum(auditActions),
      by: z.enum(['agent', 'person', 'operator', 'service']),
      by_name: z.string().nullable(),
      transport: z.string(),
      client_id: z.string().nullable(),
      agent: z.string().nullable(),
      person: z.string().nullable(),
      about: z.string().nullable(),
      detail: z.looseObject({}).nullable(),
    }),
  ),
});
const audit = async (...args: string[]) =>
  log.parse(await runCliJson(env(), ['audit', ...args])).acts.toReversed();

/** Oldest first: action, actor, transport, agent or person, and the other side. */
async function listEntries(...args: string[]) {
  return (await audit(...args)).map((one) => [
    one.act,
    one.by_name,
    one.transport,
    one.agent ?? one.person,
    one.about,
  ]);
}

test('each action between agents is recorded once, with its transport; refused actions are not', async () => {
  const trust = useContacts(service);
  const [ann, bob] = [
    await service.agent({ inbound_policy: 'contacts_only' }),
    await service.agent({ inbound_policy: 'contacts_only' }),
  ];
  const cid = await service.agent();
  const begun = Date.now();
  await trust.request(ann, bob.handle, 'a word that no one else should read');
  await trust.request(ann, bob.handle, 'asked again');
  await trust.reject(bob, ann.handle);
  await trust.request(bob, ann.handle);
  await trust.approve(ann, bob.handle);
  await trust.removeContact(bob, ann.handle);
  await trust.request(ann, bob.handle);
  await trust.withdraw(ann, bob.handle);
  await trust.block(ann, cid.handle);
  await trust.block(ann, cid.handle);
  expect((await trust.block(ann, ann.handle)).status).toBe(400);
  expect((await trust.unblock(bob, cid.handle)).status).toBe(404);
  await trust.unblock(ann, cid.handle);
  await trust.allow(ann, 'someone.else');
  await trust.allow(ann, 'someone.else');
  await trust.disallow(ann, 'someone.else');
  const hook = await service.post(
    { token: await service.token(ann.handle, { scopes: ['threads:read', 'agents:write'] }) },
    '/webhooks',
    { url: 'https://example.com/a-path-that-is-a-secret' },
  );
  expect(hook.status).toBe(201);

  const acts = await listEntries('--agent', ann.handle, '--since', String(begun));
  expect(acts).toEqual([
    ['contact.requested', ann.handle, 'rest', ann.handle, bob.handle],
    ['contact_request.approved', ann.handle, 'rest', ann.handle, bob.handle],
    ['contact.requested', ann.handle, 'rest', ann.handle, bob.handle],
    ['contact_request.withdrawn', ann.handle, 'rest', ann.handle, bob.handle],
    ['agent.blocked', ann.handle, 'rest', ann.handle, cid.handle],
    ['agent.unblocked', ann.handle, 'rest', ann.handle, cid.handle],
    ['allowlist.added', ann.handle, 'rest', ann.handle, 'someone.else'],
    ['allowlist.removed', ann.handle, 'rest', ann.handle, 'someone.else'],
    ['token.issued', null, 'service', ann.handle, 'http://localhost:3000/v1'],
    ['webhook.created', ann.handle, 'rest', ann.handle, hook.body.id],
  ]);
  expect((await listEntries('--agent', bob.handle, '--since', String(begun))).map(([act]) => act)).toEqual([
    'contact_request.rejected',
    'contact.requested',
    'contact.removed',
  ]);
  const all = JSON.stringify(await audit('--limit', '1000'));
  for (const word of ['no one else', 'asked again', 'a-path', hook.body.secret])
    expect(all).not.toContain(word);
});

test('people read its times in RFC 3339', async () => {
  await useContacts(service).request(await service.agent(), (await service.agent()).handle);
  expect((await runCli(env(), ['audit', '--limit', '1'])).out).toMatch(/^at +\d{4}-\d\d-\d\dT[\d:.]+Z$/m);
});

test('actions of people and of operators are recorded under their names', async () => {
  const username = `ada-${process.pid}`;
  const password = 'seven odd horses';
  const browser = openFormBrowser(service.url);
  await browser.signUp(username, password);
  const fields = { name: 'writer', display_name: 'Writer', inbound_policy: 'open' };
  await browser.fill('/console/agents/new', { fields, button: 'create' });
  await browser.signOut();
  const stranger = openFormBrowser(service.url);
  for (const [name, wrong] of [
    [username, 'a wrong password'],
    ['my password by mistake', 'whatever'],
  ] as const) {
    await stranger.fill('/sign-in', { fields: { username: name, password: wrong } });
  }
  const made = z
    .object({ client_id: z.string(), client_secret: z.string() })
    .parse(await runCliJson(env(), ['credential', 'create', `${username}.writer`]));
  await runCliJson(env(), ['credential', 'revoke', made.client_id]);
  await runCliJson(env(), ['org', 'create', `org-${process.pid}`]);
  await runCliJson(env(), ['org', 'add', `org-${process.pid}`, username]);
  const key = z.object({ id: z.string() }).parse(await runCliJson(env(), ['key', 'rotate']));

  const handle = `${username}.writer`;
  const operator = (await audit('--act', 'signing_key.rotated')).at(-1);
  expect(operator).toMatchObject({ by: 'operator', transport: 'command line', about: key.id });
  const name = operator?.by_name;
  const owner = `made-${process.pid}`;
  await runCliJson(env(), ['agent', 'create', `${owner}.bot`, '--create-owner']);
  const opened = ['account.opened', name, 'command line', owner, null];
  expect(await listEntries('--person', owner)).toContainEqual(opened);
  expect(await listEntries('--person', username)).toEqual([
    ['account.opened', null, 'service', username, null],
    ['sign_in.succeeded', username, 'console', username, null],
    ['agent.registered', username, 'console', handle, null],
    ['sign_in.failed', null, 'service', username, null],
    ['member.invited', name, 'command line', username, `org-${process.pid}`],
  ]);
  expect(await listEntries('--agent', handle)).toEqual([
    ['agent.registered', username, 'console', handle, null],
    ['credential.created', name, 'command line', handle, made.client_id],
    ['credential.revoked', name, 'command line', handle, made.client_id],
  ]);
  expect(await listEntries('--act', 'sign_in.failed')).toContainEqual([
    'sign_in.failed',
    null,
    'service',
    null,
    null,
  ]);
  const all = JSON.stringify(await audit('--limit', '1000'));
  for (const word of [made.client_secret, password, 'a wrong password', 'by mistake'])
    expect(all).not.toContain(word);

  expect(await runCli(env(), ['audit', '--agent', 'no.body'])).toMatchObject({ code: 1, out: '' });
  expect(await runCli(env(), ['audit', '--act', 'nonsense'])).toMatchObject({ code: 2, out: '' });
});

test('old entries are removed', async () => {
  const old = minIdAt('audit', Date.now() - 366 * 24 * 60 * 60 * 1000);
  await service.sql(
    `insert into audit_log (id, act, by_kind, door, at) values ($1, 'feeds.restored', 'service', 'service', 1)`,
    [old],
  );
  const last = (await audit('--limit', '1')).at(0)?.id;
  await maintenanceHandler(service.core).handle({ task: 'expire-audit-log' });
  const ids = (await audit('--limit', '10000')).map(({ id }) => id);
  expect(ids).not.toContain(old);
  expect(ids).toContain(last);
});
