import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type McpCluster, startMcpCluster } from '../../acceptance/mcp/cluster.ts';
import { testToolStory } from '../../acceptance/mcp/tool-story.ts';
import type { ConnectTools } from '../../clients/mcp/drivers/driver.ts';
import { readResult, readText } from '../../clients/mcp/eliciting-client.ts';

let cluster: McpCluster;
beforeAll(async () => {
  cluster = await startMcpCluster();
});
afterAll(async () => void (await cluster.stop()));

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

interface Line {
  id: number;
  result?: unknown;
  error?: string;
}

/** Connects through a program that calls the tools of one client library. */
function connectThrough(folder: string, program: string, node = process.execPath): ConnectTools {
  return async ({ url, token }) => {
    await copyFile(join(import.meta.dirname, program), join(folder, program));
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, AMS_URL: url, AMS_TOKEN: token };
    const telemetry = { MCP_USE_ANONYMIZED_TELEMETRY: 'false', MASTRA_TELEMETRY_DISABLED: '1' };
    const child = spawn(node, [join(folder, program)], {
      env: { ...env, ...telemetry },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { tools } = JSON.parse(String((await lines.next()).value)) as { tools: string[] };
    let id = 0;
    return {
      tools: async () => tools,
      async call(name, args = {}) {
        child.stdin.write(`${JSON.stringify({ id: (id += 1), name, args })}\n`);
        const { result, error } = JSON.parse(String((await lines.next()).value)) as Line;
        if (error !== undefined) return readText(true, error.slice(error.indexOf('{')));
        const hasContent = Object.hasOwn(Object(result), 'content');
        return hasContent ? readResult(result) : readText(false, JSON.stringify(result));
      },
      async close() {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.stdin.end();
        expect(await ended).toBe(0);
      },
    };
  };
}

test('with Mastra on Node 24', { timeout: 600_000 }, async () => {
  const nodePackage = `node-${process.platform}-${process.arch}`;
  const clients = { '@mastra/core': '1.71.0', '@mastra/mcp': '2.0.0' };
  const folder = await install({ ...clients, [nodePackage]: '24.9.0' });
  const node = join(folder, 'node_modules', nodePackage, 'bin/node');
  await testToolStory(cluster, connectThrough(folder, 'mastra.mjs', node));
});

// Version 2 needs a package that the registry does not have.
test('with mcp-use', { timeout: 600_000 }, async () => {
  const folder = await install({ 'mcp-use': '1.34.6' });
  await testToolStory(cluster, connectThrough(folder, 'mcp-use.mjs'));
});
