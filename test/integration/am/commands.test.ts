import { expect, test } from 'vitest';
import { runAm, tokenEnv } from '../../clients/am.ts';
import { useService } from '../../support/service.ts';
import { createFolder } from '../../support/use.ts';

const service = useService({ worker: true });

/** Two agents, each with its command line. */
async function pair() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const [annEnv, bobEnv] = await Promise.all([
    tokenEnv(service.url, ann.token),
    tokenEnv(service.url, bob.token),
  ]);
  const run = (env: Record<string, string>) => (args: string[], input?: string) =>
    runAm(args, { env, ...(input !== undefined && { input }) });
  return { ann, bob, asAnn: run(annEnv), asBob: run(bobEnv) };
}

const json = ({ out }: { out: string }): Record<string, unknown>[] =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a conversation: send, read, answer, search', async () => {
  const { ann, bob, asAnn, asBob } = await pair();
  expect((await asAnn(['whoami'])).out).toContain(ann.handle);
  const sent = await asAnn(['send', bob.handle, 'Where is order 1042?', '--subject', 'Order']);
  expect(sent).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^sent msg_\w+ in thd_\w+ as #1\n$/),
  });
  expect((await asAnn(['send', bob.handle, '-', '--json'], 'From a pipe\n')).out).toContain(
    '"content":"From a pipe"',
  );
  const listed = json(await asBob(['threads', '--unread', '--json']));
  expect(listed).toMatchObject([{ subject: 'Order', unread_count: 2 }]);
  const row = new RegExp(String.raw`^Order {2,}${ann.handle} {2,}2 {2,}\S+Z {2}From a pipe {2}thd_\w+$`, 'm');
  const head = /^SUBJECT +WITH +UNREAD +LAST +WORDS +ID\n/;
  for (const command of ['inbox', 'threads']) {
    const { out } = await asBob([command]);
    expect(out).toMatch(row);
    expect(out).toMatch(head);
  }
  const read = await asBob(['read', ann.handle]);
  expect(read.out).toContain('Where is order 1042?');
  expect(json(await asBob(['threads', '--unread', '--json']))).toEqual([]);
  const [first] = json(await asBob(['read', ann.handle, '--json', '--limit', '1']));
  expect(first).toMatchObject({ sequence: 2, content: 'From a pipe' });
  await expect.poll(async () => (await asAnn(['search', 'pipe'])).out).toContain('**pipe**');
  const [found] = json(await asAnn(['search', '--agents', bob.handle, '--json']));
  expect(found).toMatchObject({ canonical_handle: bob.handle });
  const lines = (await asAnn(['search', '--agents', bob.handle])).out.split('\n');
  expect(lines).toContain(`${bob.handle} ${String(found?.['display_name'])}`);
  expect(await asAnn(['threads', '--with', 'absent.here'])).toEqual({
    code: 0,
    out: '',
    err: 'no thread with absent.here was found\n',
  });
});

test('a question waits for its answer, or ends with 7', async () => {
  const { ann, bob, asAnn, asBob } = await pair();
  expect(await asAnn(['ask', bob.handle, 'Anyone?', '--wait', '1'])).toMatchObject({
    code: 7,
    err: expect.stringMatching(/^error: no answer within 1 s; see: am task show tsk_\w{26}\n$/),
  });
  const answer = asAnn(['ask', bob.handle, 'And now?', '--wait', '30', '--subject', 'Now']);
  await expect.poll(async () => (await asBob(['threads', '--json'])).out).toContain('"subject":"Now"');
  await asBob(['send', ann.handle, 'Yes']);
  expect(await answer).toMatchObject({ code: 0, out: expect.stringContaining('  Yes') });
});

test('contacts are requested, approved and removed', async () => {
  const { ann, bob, asAnn, asBob } = await pair();
  expect((await asAnn(['contacts', 'request', bob.handle, '--message', 'Hello'])).out).toContain(
    'is pending',
  );
  expect((await asBob(['contacts', '--requests'])).out).toContain(`${ann.handle}: Hello`);
  expect((await asBob(['inbox'])).out).toContain(`${ann.handle} asks for contact: Hello`);
  expect((await asBob(['contacts', 'approve', ann.handle])).out).toBe(`approved ${ann.handle}\n`);
  expect(json(await asAnn(['contacts', '--json']))).toMatchObject([{ canonical_handle: bob.handle }]);
  expect((await asAnn(['contacts', 'remove', bob.handle, '--json'])).out).toBe(
    `{"removed":"${bob.handle}"}\n`,
  );
  expect((await asBob(['contacts', 'reject', ann.handle])).code).toBe(5);
});

test('errors have the documented exit codes', async () => {
  const { bob, asAnn } = await pair();
  expect((await asAnn(['nonsense'])).code).toBe(2);
  expect((await asAnn(['send', bob.handle])).code).toBe(2);
  expect((await asAnn(['send', 'thd_x', 'text', '--new'])).code).toBe(2);
  for (const option of ['--reply-to', '--replaces'])
    expect((await asAnn(['send', bob.handle, 'text', option, 'msg_x'])).code).toBe(2);
  expect(await asAnn(['send', 'no handle', 'text'])).toMatchObject({
    code: 4,
    err: expect.stringContaining('INVALID_HANDLE'),
  });
  expect((await asAnn(['send', 'absent.here', 'text'])).code).toBe(5);
  expect((await asAnn(['read', 'absent.here'])).code).toBe(5);
  const folder = await createFolder();
  const away = {
    XDG_CONFIG_HOME: folder,
    AMS_URL: 'http://127.0.0.1:9',
    AMS_TOKEN: 'x',
  };
  for (const args of [['whoami'], ['login', '--no-browser'], ['login', '--url', 'http://localhost:9']]) {
    const { code, err } = await runAm(args, { env: away });
    expect([code, err]).toEqual([
      6,
      expect.stringMatching(/^error: The connection to http:\/\/\S+:9 failed: .+\n$/),
    ]);
  }
  const credentials = { XDG_CONFIG_HOME: folder, AMS_CLIENT_ID: 'id', AMS_CLIENT_SECRET: 'secret' };
  expect(await runAm(['login', '--url', 'http://127.0.0.1:9'], { env: credentials })).toMatchObject({
    code: 6,
    err: expect.stringContaining('http://127.0.0.1:9'),
  });
  expect((await runAm(['whoami'], { env: { ...away, AMS_URL: service.url } })).code).toBe(3);
  expect(await runAm(['whoami'], { env: { XDG_CONFIG_HOME: folder } })).toMatchObject({
    code: 3,
    err: 'error: the profile default is not signed in; run: am login\n',
  });
  expect((await runAm(['whoami', '--profile', '../x'], { env: { XDG_CONFIG_HOME: folder } })).code).toBe(2);
});

test('--version prints the version of the package', async () => {
  const { asAnn } = await pair();
  expect(await asAnn(['--version'])).toEqual({ code: 0, out: '0.1.0\n', err: '' });
  expect((await asAnn(['-V'])).out).toBe('0.1.0\n');
});

test('long subjects and texts are cut, and control characters are left out of the table', async () => {
  const { bob, asAnn, asBob } = await pair();
  await asAnn([
    'send',
    bob.handle,
    `a\nb \u001b[31m${'x'.repeat(100)}`,
    '--subject',
    `Order ${'y'.repeat(100)}`,
  ]);
  const [, row = ''] = (await asBob(['threads'])).out.split('\n');
  expect(row).toMatch(/^Order y{33}…  .*  a b \[31mx{31}…  thd_\w+$/);
  expect(row).not.toContain('\u001b');
});
