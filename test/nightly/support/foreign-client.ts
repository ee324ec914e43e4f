import { execFile, spawn } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { createFolder } from '../../support/use.ts';

/** Installs packages in a folder of their own, because each is larger than half of the dependencies of this project. */
export async function install(packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = await createFolder();
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

/** Starts a program that uses a client library, in the folder of the library. */
export async function startProgram(
  folder: string,
  program: string,
  { node, env }: { node: string; env: Record<string, string> },
) {
  const copy = join(folder, basename(program));
  await copyFile(program, copy);
  const child = spawn(node, [copy], {
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

/** Installs Node 24 beside the packages: some clients need a newer Node than the service. */
export async function installWithNode(packages: Readonly<Record<string, string>>) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = await install({ ...packages, [name]: '24.9.0' });
  return { folder, node: join(folder, 'node_modules', name, 'bin/node') };
}
