import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const run = promisify(execFile);

const extraCertificates = process.env['NODE_EXTRA_CA_CERTS'];

/** The user ID that Linux and macOS keep for programs without rights. */
const unprivileged = { uid: 65_534, gid: 65_534 };

/** An empty folder, removed at the end of the test, in which programs run as an ordinary user, also if the tests run as root. */
export async function createEmptyFolder() {
  const account = process.getuid?.() === 0 ? unprivileged : undefined;
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ams-empty-')));
  if (account) await chown(folder, account.uid, account.gid);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const options = (env: Record<string, string>) => ({
    ...account,
    cwd: folder,
    env: {
      // The Node of this process first.
      PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
      HOME: folder,
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
      // The doctor fetches such a document, and this machine may have no way to its address.
      CLIENT_ID_METADATA_DOCUMENTS: 'false',
      // A registry can have a certificate of its own authority.
      ...(extraCertificates && { NODE_EXTRA_CA_CERTS: extraCertificates }),
      ...env,
    },
  });
  return {
    folder,
    /** Runs a program to its end. Returns its standard output. @throws {Error} with its output, when it fails. */
    async run(file: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
      const { stdout } = await run(file, args, { ...options(env), maxBuffer: 64 * 1024 * 1024 });
      return stdout;
    },
    /** Starts a program in a process group of its own, as a terminal does, and collects what it prints. */
    start(file: string, args: readonly string[], env: Record<string, string> = {}) {
      const child = spawn(file, args, {
        ...options(env),
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const output = { text: '', errors: '' };
      child.stdout.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (output.errors += chunk.toString()));
      const closed = once(child, 'close');
      const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
      const signalGroup = (signal: NodeJS.Signals) => {
        if (!hasEnded() && child.pid !== undefined) process.kill(-child.pid, signal);
      };
      onTestFinished(async () => {
        signalGroup('SIGKILL');
        await closed;
      });
      return {
        output,
        hasEnded,
        /** Sends SIGINT to the group, as Ctrl-C does, and waits until its last process has closed its output. */
        async interrupt(): Promise<void> {
          signalGroup('SIGINT');
          await closed;
        },
      };
    },
  };
}
