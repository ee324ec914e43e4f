import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runAm, startAm, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';
import { createFolder } from '../../support/use.ts';

const service = useSharedService();

async function pair() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const env = await tokenEnv(service.url, bob.token);
  const annEnv = await tokenEnv(service.url, ann.token);
  const send = (text: string) => runAm(['send', bob.handle, text], { env: annEnv });
  return { ann, bob, env, send };
}

interface Shown {
  type: string;
  content: string;
  data: { content: string };
}

test('read --follow shows each message once and marks it as read', async () => {
  const { ann, env, send } = await pair();
  await send('one');
  const reading = startAm(['read', ann.handle, '--follow', '--json'], { env });
  const contents = () => reading.lines<Shown>().map(({ content }) => content);
  await expect.poll(contents).toEqual(['one']);
  await send('two');
  await send('three');
  await expect.poll(contents).toEqual(['one', 'two', 'three']);
  expect((await reading.stop()).code).toBe(0);
  expect((await runAm(['threads', '--unread'], { env })).out).toBe('');
});

test('inbox --follow shows messages of others as they arrive', async () => {
  const { ann, env, send } = await pair();
  const inbox = startAm(['inbox', '--follow'], { env });
  await expect.poll(async () => (await send('news'), inbox.out())).toContain('news');
  await runAm(['send', ann.handle, 'my answer'], { env });
  await expect.poll(async () => (await send('more'), inbox.out())).toContain('more');
  expect((await inbox.stop()).out).not.toContain('my answer');
});

test('inbox --follow misses nothing that arrives while it connects', async () => {
  const { env, send } = await pair();
  const original = globalThis.fetch;
  const watched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    if (!new Request(url).url.includes('/v1/events')) return original(url, init);
    watched.mockRestore();
    await send('early');
    return original(url, init);
  });
  onTestFinished(() => watched.mockRestore());
  const inbox = startAm(['inbox', '--follow'], { env });
  await expect.poll(inbox.out).toContain('early');
  expect((await inbox.stop()).code).toBe(0);
});

test('listen continues at its position, and shows only the requested types', async () => {
  const { env, send } = await pair();
  const args = ['listen', '--json', '--types', 'message.created'];
  await send('one');
  const first = startAm(args, { env });
  await expect.poll(() => first.lines<Shown>().length).toBe(1);
  const position = join(String(env['XDG_CONFIG_HOME']), 'ams/profiles/default.listen-position');
  await expect.poll(() => readFile(position, 'utf8').catch(() => '')).not.toBe('');
  await first.stop();
  await send('two');
  const second = startAm(args, { env });
  await expect.poll(() => second.lines<Shown>().map(({ data }) => data.content)).toEqual(['two']);
  await second.stop();
});

test('listen --exec repeats the events of a failed command', async () => {
  const { env, send } = await pair();
  const folder = await createFolder();
  const log = join(folder, 'log');
  const script = join(folder, 'handle.sh');
  const listen = ['listen', '--exec', `sh ${script}`, '--types', 'message.created', '--batch-ms', '50'];
  await send('one');
  await writeFile(script, `cat > /dev/null; echo "failed $AM_EVENTS" >> ${log}; exit 3\n`);
  expect(await runAm(listen, { env })).toMatchObject({
    code: 1,
    err: expect.stringContaining('ended with 3'),
  });
  await writeFile(script, `echo "handled $(cat)" >> ${log}\n`);
  const listening = startAm(listen, { env });
  const read = () => readFile(log, 'utf8');
  await expect.poll(read).toMatch(/^failed 1\nhandled \{.*"content":"one"/);
  await send('two');
  await expect.poll(read).toContain('"content":"two"');
  expect((await listening.stop()).code).toBe(0);
});

test('listen prints every event as text, and JSON only with --json', async () => {
  const { ann, bob, env, send } = await pair();
  await runAm(['contacts', 'request', bob.handle], { env: await tokenEnv(service.url, ann.token) });
  await send('one');
  await runAm(['read', ann.handle], { env });
  const listening = startAm(['listen', '--from', 'earliest'], { env });
  await expect.poll(listening.out).toMatch(/message\.read/);
  const { out } = await listening.stop();
  expect(out).not.toMatch(/[{}"[\]]/);
  expect(out).toContain(`asks for contact`);
  expect(out).toMatch(
    new RegExp(
      String.raw`^\S+Z message\.read thread_id: thd_\w+, agent: ${bob.handle}, up_to_sequence: 1, read_at: \S+Z$`,
      'm',
    ),
  );
});
