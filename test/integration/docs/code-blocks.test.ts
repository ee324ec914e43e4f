import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connectTo } from '../../support/servers/postgres/database.ts';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { type CodeBlock, listPages, readCodeBlocks } from './code-blocks.ts';
import { runPages, runnableLanguages } from './run-pages.ts';
import { isNightly } from '../../support/extent.ts';
import { createFolder } from '../../support/use.ts';

/** The pages after the quick start are run nightly, in its terminal session, because they use its variables. */
const guides = ['docs/guide.md', 'docs/mcp.md', 'docs/operations.md', 'docs/a2a.md'];
const sessions = [['README.md'], ['docs/quick-start.md', ...(isNightly ? guides : [])]] as const;
const pagesThatRun = new Set<string>([...sessions.flat(), ...guides]);
const blocks = listPages().flatMap(readCodeBlocks);
const run = promisify(execFile);
const hasPython = await run('python3', ['--version']).then(
  () => true,
  () => false,
);

async function checkFile(block: CodeBlock, extension: string, command: string, ...args: string[]) {
  const folder = await createFolder();
  const file = join(folder, `block.${extension}`);
  await writeFile(file, block.text);
  await run(command, [...args, file]);
}

/** The check for a block of each language. A language without a check gives the reason. */
const checks: Record<string, (block: CodeBlock) => unknown> = {
  sh: (block) => checkFile(block, 'sh', 'bash', '-n'),
  js: (block) => checkFile(block, 'mjs', process.execPath, '--check'),
  python: (block) => hasPython && checkFile(block, 'py', 'python3', '-m', 'py_compile'),
  json: ({ text }) => JSON.parse(text) as unknown,
  yaml: ({ text }) => parseYaml(text) as unknown,
  sql: () => undefined, // runs below
  toml: () => undefined, // test/integration/bridge/client-configs.ts reads all of them
  // test/nightly/deployment reads these
  ini: () => undefined,
  systemd: () => undefined,
  caddy: () => undefined,
  cron: () => undefined,
  nginx: ({ text }) => checkDirectives(text),
  mermaid: () => undefined, // a diagram, not code
};

/** Each line of an nginx configuration is a comment, a directive, or a brace, and the braces are balanced. */
function checkDirectives(text: string): void {
  const lines = text.split('\n').map((line) => line.trim());
  expect(lines.filter((line) => line !== '' && !/^#|[;{}]$/.test(line))).toEqual([]);
  expect(lines.filter((line) => line.endsWith('{'))).toHaveLength(
    lines.filter((line) => line === '}').length,
  );
}

const describeBlock = ({ page, line }: CodeBlock): string => `${page}:${line}`;

test('every block has a language with a check, and is well-formed', async () => {
  expect(blocks.filter(({ language }) => !Object.hasOwn(checks, language)).map(describeBlock)).toEqual([]);
  const broken: string[] = [];
  for (const block of blocks) {
    try {
      await checks[block.language]?.(block);
    } catch (error) {
      broken.push(`${describeBlock(block)}: ${String(error)}`);
    }
  }
  expect(broken).toEqual([]);
});

test('every program is run by this file, or states why not', () => {
  const programs = blocks.filter(({ language }) => [...runnableLanguages, 'sql'].includes(language));
  const neither = programs.filter(
    ({ page, notRunReason, language }) =>
      notRunReason === undefined && language !== 'sql' && !pagesThatRun.has(page),
  );
  expect(neither.map(describeBlock)).toEqual([]);
});

test('the first conversation of the README works', async () => {
  const { waitForOutput, resume } = await runPages(sessions[0], { WEBHOOK_NETWORKS: '127.0.0.0/8' });
  await waitForOutput('ada.writer: Hello Bob', '"type":"ready"');
  resume();
  await waitForOutput(
    '"type":"thread.created"',
    '"type":"message.created"',
    '"content":"Hello Ada"',
    'listening',
  );
  resume();
  await waitForOutput('received {', '@@ end');
});

/** What the pages print: the quick start, and the guides after it. */
const quickStartTexts = [
  'Hello from curl',
  'ada.writer: Hello from Node',
  ...(hasPython ? ['ada.writer: Hello from Python'] : []),
];
const guideTexts = [
  '"token_type":"Bearer"',
  'Permission is hereby granted', // the content of the attachment
];

test(`the blocks of ${sessions[1].join(', ')} work`, async () => {
  const { waitForOutput, service } = await runPages(sessions[1]);
  const output = await waitForOutput('@@ end');
  for (const text of [...quickStartTexts, ...(isNightly ? guideTexts : [])]) expect(output).toContain(text);

  const client = await connectTo(service.core.config.DATABASE_URL);
  for (const { language, text, notRunReason } of blocks) {
    if (language === 'sql' && notRunReason === undefined) await client.query(text);
  }
});

test('the signature check of the guide accepts only what the library signs', async () => {
  const block = blocks.find(({ text }) => text.includes('export function isAuthentic'));
  const { isAuthentic } = (await import(`data:text/javascript,${encodeURIComponent(block?.text ?? '')}`)) as {
    isAuthentic(secret: string, headers: Record<string, string>, body: string): boolean;
  };
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const sign = (time: Date) => ({
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(time.getTime() / 1_000)),
    'webhook-signature': `v1,${'A'.repeat(43)}= ${new Webhook(secret).sign('evt_1', time, '{}')}`,
  });
  expect(isAuthentic(secret, sign(new Date()), '{}')).toBe(true);
  expect(isAuthentic(secret, sign(new Date()), '{"a":1}')).toBe(false);
  expect(isAuthentic(secret, sign(new Date(Date.now() - 600_000)), '{}')).toBe(false);
});
