import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readText } from '../eliciting-client.ts';
import type { Access, ToolDriver } from './driver.ts';

const program = resolve(import.meta.dirname, '../../../../node_modules/mcporter/dist/cli.js');

/** The command line of mcporter: each call is a process with a session of its own, which prints the result. */
export async function connectMcporter({ url, token }: Access): Promise<ToolDriver> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-mcporter-'));
  const config = join(folder, 'mcporter.json');
  const ams = { url: `${url}/mcp`, headers: { Authorization: 'Bearer ${AMS_TOKEN}' } };
  await writeFile(config, JSON.stringify({ mcpServers: { ams }, imports: [] }));
  const { PATH = '' } = process.env;
  const options = { cwd: folder, env: { PATH, HOME: folder, AMS_TOKEN: token }, timeout: 150_000 };
  async function run(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [program, '--config', config, ...args],
      options,
    );
    return stdout;
  }
  return {
    async tools() {
      const { tools } = JSON.parse(await run('list', 'ams', '--json'));
      return tools.map(({ name }: { name: string }) => name);
    },
    async call(name, args = {}) {
      const text = await run('call', `ams.${name}`, '--args', JSON.stringify(args), '--output', 'json');
      return readText('error' in JSON.parse(text), text);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
