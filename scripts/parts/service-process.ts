import { type ChildProcess, fork, spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

export type ServicePart = 'api' | 'worker';

/** The built service: beside the built scripts, or in dist/ when a test runs this file as it is. */
const built = resolve(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../../dist' : '../..');
const entries = { api: 'src/main.js', worker: 'workers/main.js' };

export interface Program {
  entry: string;
  /** What Node is told when it starts. */
  nodeArguments: readonly string[];
}

export interface ServiceProcess {
  /** Of an API; that of a worker is empty. */
  url: string;
  /** Stops the clock of the process, until `thaw` or until we are gone. */
  freeze(): void;
  thaw(): void;
  /** Ends the process without warning. Rejects, with its log, when it had ended without being asked to. */
  kill9(): Promise<void>;
  /** SIGTERM: asks it to stop. Rejects as `kill9` does. */
  terminate(): Promise<ProcessExit>;
  /** SIGINT: asks it to stop without leaving time to balancers. Rejects as `kill9` does. */
  interrupt(): Promise<ProcessExit>;
  ended: Promise<ProcessExit>;
  /** The end of what it logged so far, for a person who wonders why something fails. */
  log(): string;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * Starts an API or a worker as a process of its own, from the build, and waits until it is ready. It ends with this process.
 * `logFile` gets everything that it logs. `program` is another one that behaves like the part.
 */
export async function startProcess(
  part: ServicePart,
  env: Record<string, string>,
  { logFile, program }: { logFile?: string; program?: Program | undefined } = {},
): Promise<ServiceProcess> {
  const { entry, nodeArguments } = program ?? { entry: resolve(built, entries[part]), nodeArguments: [] };
  if (!existsSync(entry)) throw new Error(`${entry} is missing: npm test builds it, npm run build as well`);
  const child = fork(entry, {
    env: { ...withoutServiceSettings(process.env), ...env },
    execArgv: [...nodeArguments],
    detached: true, // a Ctrl-C in the terminal is for whoever started this, who ends its parts by itself
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let asked = false;
  let thawing: ChildProcess | undefined;
  const lines: string[] = [];
  if (child.stderr) {
    if (logFile !== undefined) child.stderr.pipe(createWriteStream(logFile, { flags: 'a' }));
    createInterface(child.stderr).on('line', (line) => {
      lines.push(line.slice(0, 400));
      if (lines.length > 100) lines.shift();
    });
  }
  const log = () => lines.slice(-30).join('\n');
  const ended = new Promise<ProcessExit>((done) => {
    child.once('close', (code, signal) => done({ code, signal }));
  });
  await waitUntilReady(child, ended, log);
  async function end(signal: NodeJS.Signals): Promise<ProcessExit> {
    if (!asked && (child.exitCode ?? child.signalCode) !== null) {
      throw new Error(`the ${part} ended by itself (${child.exitCode ?? child.signalCode}):\n${log()}`);
    }
    asked = true;
    child.kill(signal);
    if (signal === 'SIGKILL') thawing?.kill('SIGKILL');
    return ended;
  }
  return {
    url: part === 'api' ? await findAddress(lines) : '',
    freeze() {
      child.kill('SIGSTOP');
      thawing ??= thawOnExit(child.pid ?? 0);
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

/** The log and the word that it is ready come by two ways: the line may be the later one. */
async function findAddress(lines: readonly string[]): Promise<string> {
  for (;;) {
    const line = lines.find((each) => each.includes('"API ready"'));
    if (line) return `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`;
    await new Promise(setImmediate);
  }
}

/** The settings of whoever runs this are not those of the service. */
function withoutServiceSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = env;
  return { ...(PATH && { PATH }), ...(HOME && { HOME }), ...(TMPDIR && { TMPDIR }) };
}

/** A frozen process cannot notice that its parent is gone: somebody else wakes it up then, and it ends by itself. */
function thawOnExit(pid: number): ChildProcess {
  const script = 'read -r _; kill -CONT "$1"';
  return spawn('/bin/sh', ['-c', script, 'thaw', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

function waitUntilReady(child: ChildProcess, ended: Promise<ProcessExit>, log: () => string): Promise<void> {
  return new Promise((done, fail) => {
    child.once('message', () => done());
    child.once('error', fail);
    ended.then(
      ({ code, signal }) => fail(new Error(`it did not start (${code ?? signal}):\n${log()}`)),
      fail,
    );
  });
}
