import { type ChildProcess, fork } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { startGuard } from './cleanup-guard.ts';

export type ServicePart = 'api' | 'worker';

/** The built service: relative to the built scripts, or in dist/ when a test runs this source file. */
const built = resolve(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../../dist' : '../..');
const entries = { api: 'src/main.js', worker: 'workers/main.js' };

export interface Program {
  entry: string;
  /** Node options. */
  nodeArguments: readonly string[];
  /** Of the program. */
  arguments?: readonly string[];
}

export interface ServiceProcess {
  pid: number;
  /** Address of an API; empty for a worker. */
  url: string;
  /** Suspends the process until `thaw` or until this process exits. */
  freeze(): void;
  thaw(): void;
  /** Sends SIGKILL. Rejects with the log when the process had exited by itself. */
  kill9(): Promise<void>;
  /** Sends SIGTERM. Rejects as `kill9` does. */
  terminate(): Promise<ProcessExit>;
  /** Sends SIGINT: stops without drain time for balancers. Rejects as `kill9` does. */
  interrupt(): Promise<ProcessExit>;
  ended: Promise<ProcessExit>;
  /** The last lines of its log, for error messages. */
  log(): string;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * Starts an API or a worker process from the build and waits until it is ready. It exits with this process.
 * Its log is written to `logFile`. `program` replaces the entry point.
 */
export async function startProcess(
  part: ServicePart,
  env: Record<string, string>,
  { logFile, program }: { logFile?: string; program?: Program | undefined } = {},
): Promise<ServiceProcess> {
  const {
    entry,
    nodeArguments,
    arguments: args = [],
  } = program ?? { entry: resolve(built, entries[part]), nodeArguments: [] };
  if (!existsSync(entry)) throw new Error(`${entry} is missing: npm test builds it, npm run build as well`);
  const child = fork(entry, [...args], {
    env: { ...withoutServiceSettings(process.env), ...env },
    execArgv: [...nodeArguments],
    detached: true, // Ctrl-C in the terminal reaches only the parent, which stops its parts itself
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let isStopping = false;
  let thawing: ChildProcess | undefined;
  const lines: string[] = [];
  if (child.stderr) {
    if (logFile !== undefined) child.stderr.pipe(createWriteStream(logFile, { flags: 'a' }));
    createInterface(child.stderr).on('line', (line) => {
      // The message of a log line is last, after the paths in the stack of its error.
      lines.push(line.slice(0, 1_000));
      if (lines.length > 100) lines.shift();
    });
  }
  const log = () => lines.slice(-30).join('\n');
  const ended = new Promise<ProcessExit>((done) => {
    child.once('close', (code, signal) => done({ code, signal }));
  });
  await waitUntilReady(child, ended, log);
  async function end(signal: NodeJS.Signals): Promise<ProcessExit> {
    if (!isStopping && (child.exitCode ?? child.signalCode) !== null) {
      throw new Error(`the ${part} exited by itself (${child.exitCode ?? child.signalCode}):\n${log()}`);
    }
    isStopping = true;
    child.kill(signal);
    if (signal === 'SIGKILL') thawing?.kill('SIGKILL');
    return ended;
  }
  return {
    pid: child.pid ?? 0,
    url: part === 'api' ? await findAddress(lines) : '',
    freeze() {
      child.kill('SIGSTOP');
      // When this process exits, the suspended one must notice that, and exit too.
      thawing ??= startGuard('kill -CONT "$1"', String(child.pid));
    },
    thaw() {
      thawing?.kill('SIGKILL');
      thawing = undefined;
      child.kill('SIGCONT');
    },
    kill9: async () => void (await end('SIGKILL')),
    terminate: () => end('SIGTERM'),
    interrupt: () => end('SIGINT'),
    ended,
    log,
  };
}

/** Waits for the log line with the port, which can arrive after the ready message. */
async function findAddress(lines: readonly string[]): Promise<string> {
  for (;;) {
    const line = lines.find((each) => each.includes('"API ready"'));
    if (line) return `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`;
    await new Promise(setImmediate);
  }
}

/** Removes the settings of the caller's environment, which must not affect the service. */
export function withoutServiceSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = env;
  return { ...(PATH && { PATH }), ...(HOME && { HOME }), ...(TMPDIR && { TMPDIR }) };
}

function waitUntilReady(child: ChildProcess, ended: Promise<ProcessExit>, log: () => string): Promise<void> {
  return new Promise((done, fail) => {
    child.once('message', () => done());
    child.once('error', fail);
    ended.then(
      ({ code, signal }) => fail(new Error(`the process did not start (${code ?? signal}):\n${log()}`)),
      fail,
    );
  });
}
