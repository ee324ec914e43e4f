import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

export const pythonPackage = resolve(import.meta.dirname, '../../packages/client-python');

const check = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']);

/** Why suites that need Python cannot run; undefined when they can. */
export const missingPythonReason =
  check.status === 0 ? undefined : 'no Python 3.11 or newer: on Debian, apt-get install python3';

/** Starts a Python program that can import the client library. Values of `env` are its only settings, `folder` is its working directory. */
export function startPython(
  source: string,
  env: Record<string, string> = {},
  { folder = tmpdir(), onLine }: { folder?: string; onLine?(line: string): void } = {},
) {
  const child = spawn('python3', ['-u', '-c', source], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PYTHONPATH: resolve(pythonPackage, 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  let stderr = '';
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line);
    onLine?.(line);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = once(child, 'close').then(([code]) => code as number | null);
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** The exit status; null after a signal. */
    closed,
    /** The lines of stdout so far. */
    lines: (): readonly string[] => lines,
    errors: () => stderr,
  };
}

export type PythonProcess = ReturnType<typeof startPython>;

/** Runs a Python program to its end; returns the JSON in the last line of its output. @throws {Error} if the program fails. */
// oxlint-disable-next-line typescript/no-explicit-any -- the tests say what they expect of it
export async function runPython(source: string, env: Record<string, string> = {}): Promise<any> {
  const program = startPython(source, env);
  const code = await program.closed;
  if (code !== 0) throw new Error(`the program ended with ${code}:\n${program.errors()}`);
  return JSON.parse(program.lines().at(-1) ?? 'null');
}
