import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { runCommandLine } from '../../packages/client/src/cli/program.ts';
import { createFolder } from '../support/use.ts';

export interface AmOptions {
  env?: Record<string, string>;
  input?: string;
  openPage?: (url: string) => Promise<void>;
}

export interface AmResult {
  code: number;
  out: string;
  err: string;
}

/** A command that runs until it is stopped. */
export interface RunningAm {
  out(): string;
  err(): string;
  /** What it has printed as JSON so far. */
  lines<T>(): T[];
  /** Presses Ctrl-C and waits for the end. */
  stop(): Promise<AmResult>;
  ended: Promise<AmResult>;
}

/** Starts `am` in this process, with a folder for settings of the test. */
export function startAm(args: readonly string[], { env = {}, input = '', openPage }: AmOptions): RunningAm {
  const interrupt = new AbortController();
  const result = { code: 0, out: '', err: '' };
  const ended = runCommandLine(args, {
    env: { PATH: process.env['PATH'], ...env },
    input: Readable.from([Buffer.from(input)]),
    output: new PassThrough(),
    print: (text) => {
      result.out += text;
    },
    flush: async () => undefined,
    isOutputDiscarded: false,
    log: (text) => {
      result.err += text;
    },
    isTerminal: false,
    interruptSignal: () => interrupt.signal,
    openPage: openPage ?? (async () => undefined),
  }).then((code) => ({ ...result, code }));
  return {
    out: () => result.out,
    err: () => result.err,
    lines: <T>() =>
      result.out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as T),
    stop() {
      interrupt.abort();
      return ended;
    },
    ended,
  };
}

/** Runs `am` to its end. */
export function runAm(args: readonly string[], options: AmOptions): Promise<AmResult> {
  return startAm(args, options).ended;
}

const program = resolve(import.meta.dirname, '../../packages/client/dist/cli/main.js');
const operatorProgram = resolve(import.meta.dirname, '../../dist/src/cli/main.js');

/** Runs a line of the shell in which `am` and `ams` are the built programs, each in a process of its own. */
export async function runShell(line: string, env: Record<string, string> = {}): Promise<AmResult> {
  const functions = Object.entries({ am: program, ams: operatorProgram }).map(
    ([name, path]) => `${name}() { '${process.execPath}' '${path}' "$@"; }`,
  );
  const child = spawn('sh', ['-c', [...functions, line].join('\n')], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    readText(child.stdout),
    readText(child.stderr),
    once(child, 'close'),
  ]);
  return { code: Number(code), out, err };
}

/** The environment of an agent that signs in with a token. */
export async function tokenEnv(url: string, token: string): Promise<Record<string, string>> {
  return { XDG_CONFIG_HOME: await createFolder(), AMS_URL: url, AMS_TOKEN: token };
}
