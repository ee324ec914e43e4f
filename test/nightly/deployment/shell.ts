import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '../../..');

/** The code blocks of a section of docs/deployment.md, in order. @throws {Error} if there is no such section. */
export function readCommandBlocks(section: string): string[] {
  const text = readFileSync(join(root, 'docs/deployment.md'), 'utf8');
  const from = text.indexOf(`## ${section}\n`);
  if (from < 0) throw new Error(`docs/deployment.md has no section ${section}`);
  const [body = ''] = text.slice(from + 3).split(/^##/m);
  return [...body.matchAll(/^```(?:sh|ini)\n([^]*?)^```$/gm)].map(([, block = '']) => block);
}

/** A shell of an operator in the folder of the service. Its background programs end with it and with this process. */
export function openShell(env: Record<string, string>) {
  const child = spawn(
    'bash',
    [
      '-c',
      'trap "trap - EXIT; kill -9 0" EXIT; while read -r line; do eval "$(base64 -d <<< "$line")"; echo "done $?"; done',
    ],
    {
      cwd: root,
      detached: true,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
  const gone = once(child, 'close');
  const lines = createInterface(child.stdout);
  return {
    /** Runs a block and waits until its last line has finished. Returns its output; rejects when that line fails. */
    async type(block: string): Promise<string> {
      const said: string[] = [];
      const over = new Promise<string>((resolve) => {
        lines.on('line', function onLine(line: string) {
          if (/^done \d+$/.test(line)) {
            lines.off('line', onLine);
            resolve(line);
          } else said.push(line);
        });
      });
      child.stdin.write(`${Buffer.from(block).toString('base64')}\n`);
      const ending = await Promise.race([over, gone.then(() => 'done: the shell is gone')]);
      if (ending !== 'done 0') throw new Error(`${ending}:\n${block}\n${said.join('\n')}`);
      return said.join('\n');
    },
    async close() {
      child.stdin.end();
      await gone;
    },
  };
}
