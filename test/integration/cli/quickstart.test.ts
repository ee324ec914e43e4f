import { expect, onTestFinished, test } from 'vitest';
import { runCli, runCliJson } from '../../clients/cli.ts';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { createTestSettings, useService } from '../../support/service.ts';

const service = useService();

const readTokens = (out: string) => Array.from(out.matchAll(/(?<==)[\w-]+/g), ([token]) => ({ token }));

test('two agents talk with the tokens that it prints, and Ada signs in', async () => {
  const { code, out, err } = await runCli(service.env, ['quickstart']);
  expect([code, out]).toEqual([0, expect.stringMatching(/^export ADA=[\w-]+ BOB=[\w-]+\n$/)]);
  const [ada, bob] = readTokens(out);
  const opened = await service.post(ada, '/threads', {
    with_handle: 'bob.reader',
    initial_message: 'Hello Bob',
  });
  expect(opened.status).toBe(201);
  const messages = await service.get(bob, `/threads/${opened.body.id}/messages`);
  expect(messages.body.messages).toMatchObject([{ content: 'Hello Bob' }]);

  const password = / as ada with the password (\S+)\n$/.exec(err)?.[1];
  const browser = openFormBrowser(service.url);
  const page = await browser.fill('/sign-in', { fields: { username: 'ada', password: password ?? '' } });
  expect(page.visibleText).toContain('ada.writer');
});

test('a second call renews the tokens, and changes neither the agents nor the password', async () => {
  const agents = () => service.sql('select * from agents order by id');
  const before = [await agents(), await service.sql('select * from accounts order by id')];
  const { out, err } = await runCli(service.env, ['quickstart']);
  expect(err).toMatch(/ as ada with its password; ams account password ada sets one\n$/);
  const [ada] = readTokens(out);
  expect((await service.get(ada, '/threads')).status).toBe(200);
  expect([await agents(), await service.sql('select * from accounts order by id')]).toEqual(before);
  expect(await runCliJson(service.env, ['quickstart'])).toEqual({
    username: 'ada',
    ADA: expect.any(String),
    BOB: expect.any(String),
  });
});

test('the name of somebody else is left alone', async () => {
  const other = await createTestSettings('postgres');
  onTestFinished(other.release);
  await runCliJson(other.env, ['account', 'create', 'bob']);
  expect(await runCli(other.env, ['quickstart'])).toEqual({
    code: 1,
    out: '',
    err: 'error: bob exists, without the agent bob.reader. Use agents of your own: ams agent create\n',
  });
  expect(await runCliJson(other.env, ['account', 'list'])).toMatchObject({ accounts: [{ username: 'bob' }] });
});
