import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startTcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';
import { runAm, startAm, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';
import { createFolder, stopAfterTest } from '../../support/use.ts';
import { listen } from '../../support/servers/listen.ts';

const wakeText = 'You have 1 unread message in 1 thread. Read your inbox.';

const service = useSharedService();

async function pair() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const env = await tokenEnv(service.url, bob.token);
  const annEnv = await tokenEnv(service.url, ann.token);
  const send = (content: string) => runAm(['send', bob.handle, content], { env: annEnv });
  return { ann, bob, env, send };
}

const readOrEmpty = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** A stand-in for a program on PATH: it writes its arguments to a file. */
async function standIn(name: string) {
  const folder = await createFolder();
  const log = join(folder, 'arguments');
  await writeFile(join(folder, name), `#!/bin/sh\nprintf '%s\\n' "$@" > ${log}\n`);
  await chmod(join(folder, name), 0o755);
  return { PATH: `${folder}${delimiter}${process.env['PATH']}`, arguments: () => readOrEmpty(log) };
}

test('wakes run one at a time; mail during a turn causes one more, and read mail none', async () => {
  const { ann, env, send } = await pair();
  const folder = await createFolder();
  const [log, gate] = [join(folder, 'log'), join(folder, 'gate')];
  const exec = `echo "$AM_MESSAGES $AM_THREADS $AM_CONTACT_REQUESTS $AM_WAKE_TEXT" >> ${log}; while [ ! -e ${gate} ]; do sleep 0.05; done`;
  const waking = startAm(['wake', '--agent-harness', 'command', '--exec', exec, '--json'], { env });
  await send('secret one');
  await expect.poll(() => readOrEmpty(log)).toBe(`1 1 0 ${wakeText}\n`);
  await send('secret two');
  await send('secret three');
  expect(waking.lines()).toHaveLength(1);
  await writeFile(gate, '');
  await expect.poll(() => waking.lines()).toHaveLength(2);
  expect(waking.lines()).toMatchObject([
    { type: 'wake', messages: 1, threads: 1, requests: 0 },
    { type: 'wake', messages: 3, threads: 1, requests: 0 },
  ]);
  await runAm(['read', ann.handle], { env });
  const { out, err } = await waking.stop();
  expect(out + err).not.toContain('secret');
  expect(await readFile(log, 'utf8')).not.toContain('secret');
});

test('without mail there is no wake, and mail that waits at the start causes one', async () => {
  const { env, send } = await pair();
  const quiet = startAm(['wake', '--agent-harness', 'command', '--exec', 'true'], { env });
  await runAm(['whoami'], { env });
  expect(await quiet.stop()).toMatchObject({ code: 0, out: '' });
  await send('before the start');
  const waking = startAm(['wake', '--agent-harness', 'command', '--exec', 'true'], { env });
  await expect.poll(waking.out).toBe(`wake: ${wakeText}\n`);
  await waking.stop();
});

test('lost connections cause no wake, and the first message after them causes one', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const port = Number(new URL(service.url).port);
  const balancer = await startTcpBalancer(() => [{ host: '127.0.0.1', port }]);
  onTestFinished(() => balancer.close());
  const env = await tokenEnv(`http://127.0.0.1:${balancer.port}`, bob.token);
  const waking = startAm(['wake', '--agent-harness', 'command', '--exec', 'true'], { env });
  for (let cut = 1; cut <= 10; cut += 1)
    await expect.poll(() => balancer.dropConnections(() => true)).toBeGreaterThan(0);
  expect(waking.out()).toBe('');
  await runAm(['send', bob.handle, 'hello'], { env: await tokenEnv(service.url, ann.token) });
  await expect.poll(waking.out).not.toBe('');
  expect(await waking.stop()).toMatchObject({ out: `wake: ${wakeText}\n` });
});

test('Claude Code continues a session in print mode', async () => {
  const { env, send } = await pair();
  const claude = await standIn('claude');
  const args = ['wake', '--agent-harness', 'claude-code', '--session', 's-1'];
  const waking = startAm(args, { env: { ...env, PATH: claude.PATH } });
  await send('hello');
  await expect.poll(claude.arguments).toBe(`--resume\ns-1\n--print\n${wakeText}\n`);
  await waking.stop();
});

test('Codex continues the latest session', async () => {
  const { env, send } = await pair();
  const codex = await standIn('codex');
  const waking = startAm(['wake', '--agent-harness', 'codex'], { env: { ...env, PATH: codex.PATH } });
  await send('hello');
  await expect.poll(codex.arguments).toBe(`exec\nresume\n--last\n${wakeText}\n`);
  await waking.stop();
});

test('opencode gets a prompt in its latest session', async () => {
  const { env, send } = await pair();
  const received: unknown[] = [];
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    received.push([request.method, request.url, request.headers.authorization, body && JSON.parse(body)]);
    const sessions = [
      { id: 'ses_old', time: { updated: 1 } },
      { id: 'ses_new', time: { updated: 2 } },
    ];
    response.end(JSON.stringify(request.method === 'GET' ? sessions : { info: {}, parts: [] }));
  }
  const server = createServer((request, response) => void answer(request, response));
  const { url } = stopAfterTest(await listen(server));
  const waking = startAm(['wake', '--agent-harness', 'opencode', '--harness-url', url], {
    env: { ...env, OPENCODE_SERVER_PASSWORD: 'pass' },
  });
  await send('hello');
  const basic = `Basic ${Buffer.from('opencode:pass').toString('base64')}`;
  const prompt = { parts: [{ type: 'text', text: wakeText }] };
  await expect
    .poll(() => received)
    .toEqual([
      ['GET', '/session', basic, ''],
      ['POST', '/session/ses_new/message', basic, prompt],
    ]);
  await waking.stop();
});

test('a harness that cannot be started is reported, and the next message tries again', async () => {
  const { env, send } = await pair();
  const folder = await createFolder();
  const waking = startAm(['wake', '--agent-harness', 'claude-code'], { env: { ...env, PATH: folder } });
  await send('one');
  const reported = () => waking.err().split('they will be seen at the next turn').length - 1;
  await expect.poll(reported).toBe(1);
  await send('two');
  await expect.poll(reported).toBe(2);
  expect((await waking.stop()).code).toBe(0);
  expect((await runAm(['wake', '--agent-harness', 'command'], { env })).code).toBe(2);
  expect((await runAm(['wake', '--agent-harness', 'unknown'], { env })).code).toBe(2);
});
