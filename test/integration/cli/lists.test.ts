import { verify } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { useService } from '../../support/service.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';

const service = useService({ worker: false });

const json = (...args: string[]) => runCliJson(service.env, args);

/** Creates agents of this owner. Returns their tokens. */
async function createAgents(owner: string, ...names: string[]): Promise<string[]> {
  const tokens: string[] = [];
  for (const name of names) {
    await json(
      'agent',
      'create',
      `${owner}.${name}`,
      '--create-owner',
      '--display-name',
      `\u001b[31m${name}\u202e`,
    );
    const { access_token } = Object(await json('token', `${owner}.${name}`));
    tokens.push(String(access_token));
  }
  return tokens;
}

test('agents and accounts are listed by name, in pages, and shown with their counts', async () => {
  await createAgents('lea', 'one', 'three', 'two');
  const first = Object(await json('agent', 'list', '--owner', 'LEA', '--limit', '2'));
  expect(first.agents).toMatchObject([
    { handle: 'lea.one', visibility: 'unlisted', paused: false, retired_at: null },
    { handle: 'lea.three' },
  ]);
  const rest = Object(await json('agent', 'list', '--owner', 'lea', '--after', '@lea.three'));
  expect(rest.agents).toMatchObject([{ handle: 'lea.two' }]);
  expect(Object(await json('account', 'list', '--after', 'le', '--limit', '1')).accounts).toMatchObject([
    { username: 'lea', agents: 3 },
  ]);
  expect(await json('account', 'show', '@Lea')).toMatchObject({
    username: 'lea',
    has_password: false,
    agents: 3,
    organizations: [],
  });
  expect(await json('agent', 'show', 'lea.one')).toMatchObject({
    owner: 'lea',
    owner_kind: 'account',
    member: null,
    threads: 0,
  });
  await service.sql(`update agents set retired_at = 1 where canonical_handle = 'lea.two'`);
  expect(Object(await json('agent', 'list', '--owner', 'lea')).agents).toHaveLength(2);
  expect(Object(await json('agent', 'list', '--owner', 'lea', '--retired')).agents).toHaveLength(3);
});

test('organizations are listed and shown with their members', async () => {
  await json('org', 'create', 'opera', '--name', 'Opera House');
  await createAgents('opera', 'desk');
  expect(Object(await json('org', 'list', '--after', 'oper')).organizations).toMatchObject([
    { slug: 'opera', name: 'Opera House', members: 0, agents: 1 },
  ]);
  expect(await json('org', 'show', 'opera')).toMatchObject({ slug: 'opera', members: [], agents: 1 });
});

test('threads are listed newest first, without the texts of their messages', async () => {
  const [token = ''] = await createAgents('mia', 'a', 'b');
  for (const [index, subject] of ['older', 'newer'].entries()) {
    await service.post(
      { token },
      '/threads',
      { with_handle: 'mia.b', subject, initial_message: 'a private text' },
      { key: `mia-${index}` },
    );
  }
  const { threads } = Object(await json('thread', 'list', '--agent', 'mia.b'));
  expect(threads).toMatchObject([
    { subject: 'newer', created_by: 'mia.a', members: 2, messages: 1 },
    { subject: 'older' },
  ]);
  const { threads: older } = Object(
    await json('thread', 'list', '--agent', 'mia.b', '--before', threads[0].id),
  );
  expect(older).toMatchObject([{ subject: 'older' }]);
  const shown = await json('thread', 'show', threads[0].id);
  expect(shown).toMatchObject({ id: threads[0].id, members: ['mia.a', 'mia.b'], status: 'active' });
  expect(JSON.stringify([threads, shown])).not.toContain('a private text');
  expect(Object(await json('thread', 'list', '--limit', '1')).threads).toHaveLength(1);
  expect(await json('stats')).toMatchObject({ threads: 2, messages: 2, webhooks: 0 });
});

test('an unknown name is refused in one line', async () => {
  for (const kind of ['agent', 'account', 'org', 'thread']) {
    const { code, out, err } = await runCli(service.env, [kind, 'show', "no.such'\u0000thing"]);
    expect([kind, code, out]).toEqual([kind, 1, '']);
    expect(err).toMatch(/^error: .+\n$/);
  }
});

test('a terminal shows a table with RFC 3339 times, and no control characters of others', async () => {
  await createAgents('tab', 'x', 'y');
  const terminal = { columns: 200 };
  const args = ['agent', 'list', '--owner', 'tab'];
  const { out } = await runCli(service.env, args, '', undefined, terminal);
  const [head = '', one = '', two = ''] = out.split('\n');
  expect(head).toMatch(/^HANDLE +DISPLAY_NAME +SCOPE .*CREATED_AT +RETIRED_AT$/);
  expect(one).toMatch(/^tab\.x +.*x +personal .*20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z +-$/);
  expect(two.indexOf('personal')).toBe(head.indexOf('SCOPE'));
  expect(out).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
  // A terminal that is too narrow gets one field a line, as a pipe does.
  const narrow = await runCli(service.env, args, '', undefined, { columns: 40 });
  expect(narrow.out).toBe((await runCli(service.env, args)).out);
});

test('a password is asked for twice on a terminal, and never without one', async () => {
  await json('account', 'create', 'nina');
  const typed = (...answers: string[]) => ({ askSecret: () => Promise.resolve(answers.shift() ?? '') });
  const set = (terminal: object) =>
    runCli(service.env, ['account', 'password', 'nina'], '', undefined, terminal);
  expect(await set(typed('correct horse', 'other'))).toMatchObject({
    code: 1,
    err: 'error: the passwords differ; nothing was changed\n',
  });
  expect((await set({})).err).toMatch(/^error: standard input is not a terminal; .*--password-stdin\n$/);
  expect((await set(typed('correct horse', 'correct horse'))).code).toBe(0);
  const [row] = await service.sql<{ password_hash: string }>(
    `select password_hash from accounts join owners using (id) where name = 'nina'`,
  );
  expect(await verify(row?.password_hash ?? '', 'correct horse')).toBe(true);
});

test('status shows release, API, workers and jobs', async () => {
  const { VERSION: version } = service.core.config;
  expect(await runCliJson({ ...service.env, PUBLIC_URL: service.url }, ['status'])).toMatchObject({
    version,
    api: expect.stringMatching(/^(ok|degraded)$/),
    workers: 0,
    pending_migrations: 0,
  });
  const away = await runCliJson({ ...service.env, PUBLIC_URL: 'http://127.0.0.1:9' }, ['status']);
  expect(away).toMatchObject({ api: 'unreachable' });
});
