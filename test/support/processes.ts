import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const entries = { api: 'src/main.js', worker: 'workers/main.js' };

export interface ServiceProcess {
  /** Of an API; that of a worker is empty. */
  url: string;
  /** Stops the clock of the process, and lets it go on. */
  freeze(): void;
  thaw(): void;
  /** Ends the process without warning. Rejects, with its log, when it had ended without being asked to. */
  kill9(): Promise<void>;
  /** SIGTERM: asks it to stop. */
  terminate(): Promise<Ending>;
  ended: Promise<Ending>;
  /** The end of what it logged so far, for a person who wonders why a test fails. */
  log(): string;
}

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Starts an API or a worker as a process of its own, from dist/, and waits until it is ready. It ends with the test process. */
export async function startProcess(
  part: keyof typeof entries,
  env: Record<string, string>,
): Promise<ServiceProcess> {
  const entry = resolve(import.meta.dirname, '../../dist', entries[part]);
  if (!existsSync(entry)) throw new Error(`${entry} is missing: npm test builds it, npm run build as well`);
  const child = fork(entry, {
    env: { ...withoutSettings(process.env), ...env },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let asked = false;
  const lines: string[] = [];
  if (child.stderr) createInterface(child.stderr).on('line', (line) => lines.push(line));
  const log = () =>
    lines
      .slice(-30)
      .map((line) => line.slice(0, 400))
      .join('\n');
  const ended = new Promise<Ending>((done) => {
    child.once('close', (code, signal) => done({ code, signal }));
  });
  await ready(child, ended, log);

  async function end(signal: NodeJS.Signals): Promise<Ending> {
    if (!asked && (child.exitCode ?? child.signalCode) !== null) {
      throw new Error(`the ${part} ended by itself (${child.exitCode ?? child.signalCode}):\n${log()}`);
    }
    asked = true;
    child.kill(signal);
    return ended;
  }
  return {
    url: part === 'api' ? await addressIn(lines) : '',
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill9: async () => void (await end('SIGKILL')),
    terminate: () => end('SIGTERM'),
    ended,
    log,
  };
}

/** The settings of whoever runs the tests are not those of the service under test. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = env;
  return { ...(PATH && { PATH }), ...(HOME && { HOME }), ...(TMPDIR && { TMPDIR }) };
}

function ready(child: ChildProcess, ended: Promise<Ending>, log: () => string): Promise<void> {
  return new Promise((done, fail) => {
    child.once('message', () => done());
    child.once('error', fail);
    ended.then(
      ({ code, signal }) => fail(new Error(`it did not start (${code ?? signal}):\n${log()}`)),
      fail,
    );
  });
}

/** The log and the word that it is ready come by two ways: the line may be the later one. */
async function addressIn(lines: readonly string[]): Promise<string> {
  for (;;) {
    const line = lines.find((each) => each.includes('"API ready"'));
    if (line) return `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`;
    await new Promise(setImmediate);
  }
}
