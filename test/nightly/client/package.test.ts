import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { buildAgent } from '../../support/service.ts';
import { installPackage, listImports } from '../../integration/client/installed-package.ts';
import { clientOf } from '../../integration/client/setup.ts';
import { use } from '../../support/use.ts';

const modules = resolve(import.meta.dirname, '../../../node_modules');

const installed = use(installPackage);

test('the package is small, has no dependencies, and contains only code and declarations', async () => {
  const { dependencies } = JSON.parse(
    await readFile(join(installed.folder, 'node_modules/@agent-messaging/client/package.json'), 'utf8'),
  );
  expect(dependencies).toBeUndefined();
  expect(installed.size).toBeLessThan(500_000);
  const others = installed.files.filter((name) => !/^dist\/.*\.(?:js|json|d\.ts)$/.test(name));
  expect(others.toSorted()).toEqual(['README.md', 'package.json']);
});

/** Compiles in the strictest way; declarations are checked too. */
const strict = [
  '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess'.split(' '),
  '--target es2023 --module nodenext --skipLibCheck false --types'.split(' '),
  '',
].flat();

const consumer = `
import { createClient, memoryCursor, type ClientEvent, type Thread } from '@agent-messaging/client';

const client = createClient({ url: 'http://localhost:3000', auth: () => 'token' });
export async function listSubjects(): Promise<(string | null)[]> {
  const threads: Thread[] = [];
  for await (const thread of client.threads.list({ status: 'active' })) threads.push(thread);
  return threads.map(({ subject }) => subject);
}
export function textOf(event: ClientEvent): string {
  switch (event.type) {
    case 'message.created':
      return event.data.content;
    case 'contact.request':
      return event.data.from.display_name;
    case 'gap':
      event.accept();
      return '';
    default:
      // Known types that are not above, and those of later versions.
      return event.id;
  }
}
export const events = client.events({ cursor: memoryCursor(), transport: 'auto' });
// @ts-expect-error A gap has no data, so a program must look at the type first.
export const data = (event: ClientEvent) => event.data;
// @ts-expect-error The field is required.
export const send = () => client.messages.send({ content: 'Hello' });
`;

test('a strict TypeScript program for browsers compiles against it', async () => {
  await writeFile(join(installed.folder, 'consumer.ts'), consumer);
  await installed.runTool('tsc', [
    ...strict,
    '--lib',
    'es2023,dom,dom.iterable,dom.asynciterable',
    'consumer.ts',
  ]);
  await writeFile(join(installed.folder, 'wrong.ts'), 'import { absent } from "@agent-messaging/client";');
  await expect(installed.runTool('tsc', [...strict, 'wrong.ts'])).rejects.toThrow('absent');
});

const nodeConsumer = `
import { createClient, fileCursor, storedSignIn, type Client, type Lease } from '@agent-messaging/client/node';
import { fakeService, type FakeService, type WebhookRequest } from '@agent-messaging/client/testing';

export async function startFake(requests: WebhookRequest[]): Promise<[FakeService, Client]> {
  const service = await fakeService({ onWebhook: (request) => requests.push(request) });
  const { token } = service.agent('acme.planner', { visibility: 'public' });
  return [service, createClient({ url: service.url, auth: token })];
}
export const work = (client: Client, signal: AbortSignal) =>
  client.inbox.work({ signal, handler: async ({ event }: Lease) => ({ content: event.id }) });
export const events = createClient({ url: 'http://localhost:3000', auth: storedSignIn() }).events({
  cursor: fileCursor('cursor'),
});
// @ts-expect-error A fake agent has a visibility of the service.
export const agent = (service: FakeService) => service.agent('acme.planner', { visibility: 'secret' });
`;

test('a strict TypeScript program for Node compiles against the other entries', async () => {
  await writeFile(join(installed.folder, 'node-consumer.ts'), nodeConsumer);
  await symlink(join(modules, '@types'), join(installed.folder, 'node_modules/@types'), 'dir');
  const types = strict.map((option) => option || 'node');
  const args = [...types, '--lib', 'es2023', 'node-consumer.ts'];
  await expect(installed.runTool('tsc', args)).resolves.toBeUndefined();
});

test('every import of the package is one of its files, of Node, or the optional ws', async () => {
  const folder = join(installed.folder, 'node_modules/@agent-messaging/client/dist');
  expect(await listImports(folder)).toEqual(['ws']);
});

await describeWithBrowser('in a browser', (browser) => {
  test('a bundle receives events with a ticket', async () => {
    const service = await startServiceOnFixedPort();
    try {
      const [ada, bob] = await Promise.all([buildAgent(service.core), buildAgent(service.core)]);
      const [asAda, asBob] = [clientOf(service, ada), clientOf(service, bob)];
      await writeFile(
        join(installed.folder, 'page.js'),
        `import { createClient } from '@agent-messaging/client';
         const client = createClient({ url: '${service.url}', auth: { getTicket: () => window.getTicket() } });
         for await (const event of client.events({ start: 'earliest' })) {
           if (event.type === 'message.created') await window.report(event.data.content);
         }`,
      );
      const bundle = await build({
        entryPoints: [join(installed.folder, 'page.js')],
        bundle: true,
        format: 'esm',
        platform: 'browser',
        minify: true,
        write: false,
      });
      const text = bundle.outputFiles.map((file) => file.text).join('');
      expect(text.length).toBeLessThan(40_000);
      const page = await browser().newPage();
      const contents: string[] = [];
      await page.exposeFunction('getTicket', async () => (await asBob.createTicket()).ticket);
      await page.exposeFunction('report', (content: string) => void contents.push(content));
      await page.addScriptTag({ content: text, type: 'module' });
      await asAda.threads.create({ with_handle: bob.handle, initial_message: 'Hello, page' });
      await expect.poll(() => contents).toEqual(['Hello, page']);
      await page.close();
    } finally {
      await service.stop();
    }
  });
});
