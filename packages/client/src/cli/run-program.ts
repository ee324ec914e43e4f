import { spawn } from 'node:child_process';

export interface ProgramOptions {
  env: Record<string, string | undefined>;
  /** Written to its standard input. */
  input?: string;
  cwd?: string;
  /** Ends the program with SIGTERM. */
  signal?: AbortSignal;
}

/** A program with its arguments, or a text for the shell. */
export type Program = string | readonly [file: string, ...args: string[]];

/**
 * Runs a program and waits for its end. Its output goes to ours.
 * @returns the exit code; 128 if a signal ended it
 * @throws {Error} when it cannot be started
 */
export async function runProgram(
  program: Program,
  { env, input, cwd, signal }: ProgramOptions,
): Promise<number> {
  const [file, ...args] = typeof program === 'string' ? [program] : program;
  const child = spawn(file, args, {
    shell: typeof program === 'string',
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
  });
  const end = () => void child.kill('SIGTERM');
  signal?.addEventListener('abort', end, { once: true });
  // A program that does not read its input is no fault.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 128));
    });
  } finally {
    signal?.removeEventListener('abort', end);
  }
}
