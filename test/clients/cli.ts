import { Readable, Writable } from 'node:stream';
import type { CommandIo } from '../../src/cli/io.ts';
import { runCommandLine } from '../../src/cli/program.ts';

export interface CliResult {
  code: number;
  out: string;
  err: string;
}

/** Runs `ams` in this process. `watch` sees what goes to standard error, and may press Ctrl-C. `terminal` is what a terminal has. */
export async function runCli(
  env: Record<string, string>,
  args: string[],
  input = '',
  watch?: (text: string, interrupt: () => void) => void,
  terminal: Pick<CommandIo, 'columns' | 'askSecret'> = {},
): Promise<CliResult> {
  const interrupted = new AbortController();
  const outcome = { code: 0, out: '', err: '' };
  outcome.code = await runCommandLine(args, {
    env,
    input: Readable.from([Buffer.from(input)]),
    output: new Writable({
      write(chunk, _encoding, done) {
        outcome.out += String(chunk);
        done();
      },
    }),
    print: (text) => {
      outcome.out += text;
    },
    log: (text) => {
      outcome.err += text;
      watch?.(text, () => interrupted.abort());
    },
    isTerminal: false,
    ...terminal,
    interruptSignal: () => interrupted.signal,
  });
  return outcome;
}

/** The result of a command with --json that must succeed. */
export async function runCliJson(env: Record<string, string>, args: string[], input = ''): Promise<unknown> {
  const { code, out, err } = await runCli(env, [...args, '--json'], input);
  if (code !== 0 || err !== '') throw new Error(`ams ${args.join(' ')}: ${code} ${err}`);
  if (out.trim().includes('\n')) throw new Error(`more than one line: ${out}`);
  return JSON.parse(out);
}
