import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startMcpCluster } from '../../acceptance/mcp/cluster.ts';
import { testToolStory } from '../../acceptance/mcp/tool-story.ts';
import type { ConnectTools } from '../../clients/mcp/drivers/driver.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { readResult, readText } from '../../clients/mcp/eliciting-client.ts';
import { use } from '../../support/use.ts';

const cluster = use(startMcpCluster);

/** Installs packages in a folder of their own, because each is larger than half of the dependencies of this project. */
async function install(packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-mcp-client-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: packages }),
  );
  // Without the engines check: npm itself can run on an older Node than the client.
  const options = ['--ignore-scripts', '--omit=optional', '--omit=peer', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['install', ...options], { cwd: folder, timeout: 400_000 });
  return folder;
}

const noTelemetry = { MCP_USE_ANONYMIZED_TELEMETRY: 'false', MASTRA_TELEMETRY_DISABLED: '1' };

interface Line {
  id: number;
  result?: unknown;
  error?: string;
}

/** Starts a program that uses a client library. */
function startProgram(
  folder: string,
  program: string,
  { node, env }: { node: string; env: Record<string, string> },
) {
  const child = spawn(node, [join(folder, program)], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...noTelemetry, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    write: (line: object) => void child.stdin.write(`${JSON.stringify(line)}\n`),
    read: async (): Promise<unknown> => JSON.parse(String((await lines.next()).value)),
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      expect(await ended).toBe(0);
    },
  };
}

/** Connects through a program that calls the tools of one client library. */
function connectThrough(folder: string, program: string, node = process.execPath): ConnectTools {
  return async ({ url, token }) => {
    await copyFile(join(import.meta.dirname, program), join(folder, program));
    const client = startProgram(folder, program, { node, env: { AMS_URL: url, AMS_TOKEN: token } });
    const { tools } = (await client.read()) as { tools: string[] };
    let id = 0;
    return {
      tools: async () => tools,
      async call(name, args = {}) {
        client.write({ id: (id += 1), name, args });
        const { result, error } = (await client.read()) as Line;
        if (error !== undefined) return readText(true, error.slice(error.indexOf('{')));
        const hasContent = Object.hasOwn(Object(result), 'content');
        return hasContent ? readResult(result) : readText(false, JSON.stringify(result));
      },
      close: client.close,
    };
  };
}

/** Installs Node 24 beside the packages: some clients need a newer Node than the service. */
async function installWithNode(packages: Readonly<Record<string, string>>) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = await install({ ...packages, [name]: '24.9.0' });
  return { folder, node: join(folder, 'node_modules', name, 'bin/node') };
}

test('with Mastra on Node 24, which also learns of a changed resource', { timeout: 600_000 }, async () => {
  const { folder, node } = await installWithNode({ '@mastra/core': '1.71.0', '@mastra/mcp': '2.0.0' });
  await testToolStory(cluster, connectThrough(folder, 'mastra.mjs', node));

  const [reader, writer] = [
    await cluster.agent({ audience: 'mcp' }),
    await cluster.agent({ audience: 'mcp' }),
  ];
  const { value } = await callToolRaw(cluster.url, writer.token, 'create_thread', {
    with_handle: reader.handle,
  });
  const thread_id = String(value['id']);
  const resource = `service://threads/${thread_id}`;
  const program = 'mastra-subscription.mjs';
  await copyFile(join(import.meta.dirname, program), join(folder, program));
  const env = { AMS_URL: cluster.url, AMS_TOKEN: reader.token, AMS_RESOURCE: resource };
  const client = startProgram(folder, program, { node, env });
  expect(await client.read()).toEqual({ subscribed: resource });
  await callToolRaw(cluster.url, writer.token, 'send_message', { thread_id, content: 'News.' });
  expect(await client.read()).toEqual({ updated: resource });
  await client.close();
});

test('with version 2 of the AI SDK client on Node 24', { timeout: 600_000 }, async () => {
  const { folder, node } = await installWithNode({ '@ai-sdk/mcp': '2.0.99', zod: '4.4.3' });
  await testToolStory(cluster, connectThrough(folder, 'ai-sdk.mjs', node));
});

test('with the command line of version 2 of the inspector on Node 24', { timeout: 600_000 }, async () => {
  const { folder, node } = await installWithNode({ '@modelcontextprotocol/inspector': '2.12.0' });
  await testToolStory(cluster, connectThrough(folder, 'inspector.mjs', node));
});

// Version 2 needs a package that the registry does not have.
test('with mcp-use', { timeout: 600_000 }, async () => {
  const folder = await install({ 'mcp-use': '1.34.6' });
  await testToolStory(cluster, connectThrough(folder, 'mcp-use.mjs'));
});
