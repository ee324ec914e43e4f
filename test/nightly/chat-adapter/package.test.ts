import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { installPackage, listImports, packPackage } from '../../integration/client/installed-package.ts';

const run = promisify(execFile);
const modules = resolve(import.meta.dirname, '../../../node_modules');

const bot = `
import { createAgentMessagingAdapter, type AgentMessagingAdapter } from '@agent-messaging/chat-adapter';
import { Chat, type Adapter, type StateAdapter } from 'chat';

const ams: AgentMessagingAdapter = createAgentMessagingAdapter({
  url: 'http://localhost:3000',
  auth: () => 'token',
  webhookSecret: 'whsec_AAAA',
});
export const general: Adapter = ams;
export function createBot(state: StateAdapter) {
  const chat = new Chat({ userName: 'bot', adapters: { ams }, state });
  chat.onDirectMessage(async (thread, message) => {
    await thread.post(message.text);
  });
  return (request: Request) => chat.webhooks.ams(request);
}
`;

test('the package is small, compiles under strict, and loads as plain JavaScript', async () => {
  const installed = await installPackage();
  onTestFinished(() => installed.remove());
  const { folder } = installed;
  const packed = await packPackage('chat-adapter');
  expect(packed.size).toBeLessThan(30_000);
  const others = packed.files.filter((name) => !/^dist\/.*\.(?:js|d\.ts)$/.test(name));
  expect(others.toSorted()).toEqual(['README.md', 'package.json']);
  // Without a network, npm does not install its dependencies: they are linked.
  const target = join(folder, 'node_modules/@agent-messaging/chat-adapter');
  await mkdir(target, { recursive: true });
  await run('tar', ['xzf', packed.path, '-C', target, '--strip-components=1']);
  for (const name of ['chat', '@chat-adapter', '@types'])
    await symlink(join(modules, name), join(folder, 'node_modules', name), 'dir');

  const { dependencies, peerDependencies } = JSON.parse(await readFile(join(target, 'package.json'), 'utf8'));
  const declared = Object.keys({ ...dependencies, ...peerDependencies });
  expect(await listImports(join(target, 'dist'))).toEqual(declared.toSorted());

  await writeFile(join(folder, 'bot.ts'), bot);
  const options = '--noEmit --strict --exactOptionalPropertyTypes --target es2023 --module nodenext';
  // The declarations of the SDK itself do not pass without skipLibCheck.
  await installed.runTool('tsc', [...options.split(' '), '--skipLibCheck', '--types', 'node', 'bot.ts']);
  const program = `import { createAgentMessagingAdapter as create } from '@agent-messaging/chat-adapter';
    console.log(create({ webhookSecret: 'whsec_AAAA' }).encodeThreadId({ thread_id: 'thd_1' }));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    env: { ...process.env, AMS_URL: 'http://localhost:3000', AMS_TOKEN: 'token' },
  });
  expect(stdout).toBe('ams:thd_1\n');
});
