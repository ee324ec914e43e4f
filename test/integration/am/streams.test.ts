import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClient } from '../../../packages/client/src/main.ts';
import { type AmResult, runShell, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';
import { createFolder } from '../../support/use.ts';

const service = useSharedService();

/** Ann's command line, and another agent. */
async function start() {
  const [ann, bob] = [await service.agent(), await service.agent()];
  return { ann, bob, env: await tokenEnv(service.url, ann.token) };
}

const notUtf8 = (what: string): Partial<AmResult> => ({
  code: 2,
  out: '',
  err: expect.stringMatching(new RegExp(String.raw`^error: ${what} is not valid UTF-8; [^\n]+\n$`)),
});

test('bytes that are not UTF-8 are refused, and nothing is sent', async () => {
  const { ann, bob, env } = await start();
  for (const bytes of [String.raw`caf\351`, String.raw`\377\376`, String.raw`\355\240\200`])
    expect(await runShell(`printf '${bytes}' | am send ${bob.handle} - --json`, env)).toMatchObject(
      notUtf8('standard input'),
    );
  for (const command of [`send ${bob.handle}`, `ask --wait 1 ${bob.handle}`, 'search'])
    expect(await runShell(`am ${command} "$(printf 'caf\\351')"`, env)).toMatchObject(notUtf8('an argument'));
  const client = createClient({ url: service.url, auth: ann.token });
  expect((await client.threads.list().page()).threads).toEqual([]);
});

test('UTF-8 arrives as it is, with U+FFFD, and without a byte order mark', async () => {
  const { bob, env } = await start();
  const sent = async (line: string) => String(Object(JSON.parse((await runShell(line, env)).out)).content);
  expect(
    await sent(`printf '\\357\\273\\277caf\\303\\251 \\357\\277\\275\\n' | am send ${bob.handle} - --json`),
  ).toBe('café \u{fffd}');
  expect(await sent(`am send ${bob.handle} 'café \u{fffd}' --json`)).toBe('café \u{fffd}');
});

test.each([
  'am threads',
  'am --help',
  'am listen --json',
  'am search --agents "$HANDLE"',
  'ams completion bash',
  'ams agent create --help',
])('a full disk ends %s in one line', async (command) => {
  const { ann, bob, env } = await start();
  await createClient({ url: service.url, auth: ann.token }).threads.create({ with_handle: bob.handle });
  expect(await runShell(`${command} > /dev/full`, { ...env, HANDLE: bob.handle })).toEqual({
    code: 1,
    out: '',
    err: 'error: standard output: ENOSPC: no space left on device, write\n',
  });
});

test.each(['am threads --json', 'ams completion zsh'])('a closed pipe ends %s quietly', async (command) => {
  const { ann, bob, env } = await start();
  await createClient({ url: service.url, auth: ann.token }).threads.create({ with_handle: bob.handle });
  expect(await runShell(`{ ${command}; echo "$?" >&2; } | exec true`, env)).toMatchObject({ err: '0\n' });
});

test('notes that cannot be written change no exit code', async () => {
  const { env } = await start();
  expect(await runShell('am nonsense 2> /dev/full', env)).toEqual({ code: 2, out: '', err: '' });
});

test('mcp-stdio skips empty lines and a byte order mark, and refuses other bytes than UTF-8', async () => {
  const { ann, bob, env } = await start();
  const file = join(await createFolder(), 'messages');
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const call = (id: number, method: string, params = {}) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const damaged = call(3, 'tools/call', {
    name: 'send_message',
    arguments: { handle: bob.handle, content: 'caf?' },
  }).replace('?', '\u{e9}');
  await writeFile(
    file,
    Buffer.concat([
      Buffer.from(`\u{feff}\r\n\n${JSON.stringify(initialize)}\n \n`),
      Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}\n'),
      Buffer.from(`${damaged}\n`, 'latin1'),
      Buffer.from(`\n${call(2, 'ping')}\n\n`),
    ]),
  );
  const token = await service.token(ann.handle, { audience: 'mcp' });
  for (const program of ['am', 'ams']) {
    const bridge = await runShell(`${program} mcp-stdio ${service.url} < ${file}`, {
      ...env,
      AMS_TOKEN: token,
    });
    const answers = bridge.out
      .trim()
      .split('\n')
      .map((line) => Object(JSON.parse(line)));
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([1, 2, undefined]));
    expect(answers).toHaveLength(3);
    expect(answers.find(({ id }) => id === undefined)).toMatchObject({ error: { code: -32_700 } });
  }
});
