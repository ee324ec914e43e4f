import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../../src/cli/program.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { eventTransports } from '../../../src/start/transports.ts';
import { instructions } from '../../../src/transports/mcp/prompts/instructions.ts';
import { asyncApiDocument } from '../../../src/transports/rest/asyncapi/document.ts';
import { openApiDocument } from '../../../src/transports/rest/openapi/document.ts';
import { readSources } from '../architecture/source-files.ts';
import type { Text } from './find.ts';
import { runAtOnce } from '../../../src/shared/steps.ts';

const root = resolve(import.meta.dirname, '../../..');

/** All code with its comments, error messages and page texts; not the migrations, which never change, and not this test. */
export function readCode(): Text[] {
  return readSources([
    'src',
    'workers',
    'bench',
    'chaos',
    'scripts',
    'packages/client/src',
    'packages/chat-adapter/src',
    'examples',
    'test',
  ])
    .filter(({ path }) => !path.startsWith('test/unit/language'))
    .map(({ path, text }) => ({ name: path, text }));
}

/** The documentation; the changelog names what was renamed. */
export function readDocumentation(): Text[] {
  const entries = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const files = [
    ...readdirSync(root).filter((name) => /\.md$|\.yml$|^\.env\.example$/.test(name)),
    ...entries.map((name) => join('docs', name)).filter((name) => name.endsWith('.md')),
    ...['deploy/prometheus', 'deploy/chart/ci', 'deploy/chart/templates'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => join(folder, name)),
    ),
    'deploy/chart/values.yaml',
    ...listPythonClient(),
  ].filter((name) => name !== 'CHANGELOG.md');
  return files.map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }));
}

/** The Python client: its README, and its modules with their comments and messages. */
function listPythonClient(): string[] {
  const folder = 'packages/client-python';
  const entries = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return entries.filter((name) => /\.(?:md|py|toml)$/.test(name)).map((name) => join(folder, name));
}

/** Every text in a document, under its JSON pointer. */
function listStrings(value: unknown, name: string): Text[] {
  if (typeof value === 'string') return [{ name, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => listStrings(child, `${name}/${key}`));
}

/** What a running service publishes to programs and models. */
export function generateDocuments(): Text[] {
  const about = {
    base_url: 'http://localhost:3000/v1',
    public_url: 'http://localhost:3000',
    version: '0.0.0',
  };
  const tools = catalogue.flatMap(({ name, tool }) =>
    tool ? [{ name: `tool ${tool.name ?? name}`, text: tool.description }] : [],
  );
  return [
    ...listStrings(
      runAtOnce(openApiDocument({ catalogue, routes: [], form: 'short', ...about })),
      'openapi.json#',
    ),
    ...listStrings(
      runAtOnce(openApiDocument({ catalogue, routes: [], form: 'long', ...about })),
      'openapi-long-paths.json#',
    ),
    ...listStrings(runAtOnce(asyncApiDocument({ transports: eventTransports, ...about })), 'asyncapi.json#'),
    ...tools,
    ...(['session', 'sign_in'] as const).map((keeper) => ({
      name: `instructions of the tool server, ${keeper}`,
      text: instructions('ada.writer', keeper),
    })),
  ];
}

/** The help of a command and of all commands below it. */
export async function readHelp(command: readonly string[] = []): Promise<Text[]> {
  let text = '';
  const append = (part: string) => {
    text += `${part}\n`;
  };
  await runCommandLine([...command, '--help'], {
    env: {},
    input: new PassThrough(),
    output: new PassThrough().setEncoding('utf8').on('data', append),
    print: append,
    log: append,
    isTerminal: false,
    interruptSignal: () => new AbortController().signal,
  });
  const [, list = ''] = text.split('\nCommands:\n');
  const names = Array.from(list.matchAll(/^ {2}([a-z][\w-]*)/gm), ([, name = '']) => name);
  const below = names.filter((name) => name !== 'help').map((name) => readHelp([...command, name]));
  return [{ name: `ams ${command.join(' ')} --help`, text }, ...(await Promise.all(below)).flat()];
}
