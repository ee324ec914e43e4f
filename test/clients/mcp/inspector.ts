import { execFile } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

/** What its `--cli` starts, without the process that does so. */
const program = resolve(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/inspector-cli/build/index.js',
);

/** The command line of the MCP inspector: one process for each question, which prints the answer. */
export function runInspector({ url, token }: { url: string; token: string }) {
  return async function ask(method: string, ...more: string[]): Promise<Record<string, unknown>> {
    const header = ['--header', `Authorization: Bearer ${token}`];
    const args = [program, `${url}/mcp`, '--transport', 'http', ...header, '--method', method];
    // It looks for its own name and version from where it runs.
    const how = { cwd: dirname(program), timeout: 150_000 };
    const { stdout } = await promisify(execFile)(process.execPath, [...args, ...more], how);
    return JSON.parse(stdout);
  };
}
