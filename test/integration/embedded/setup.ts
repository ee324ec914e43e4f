import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { removeFolderOnExit } from '../../../scripts/parts/cleanup-guard.ts';
import { inspectProcess } from '../../../src/embedded/processes/identity.ts';
import { waitUntil as pollUntil } from '../../../src/shared/wait-until.ts';

/** A data folder of this test, readable by every user, removed at its end. */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ams-embedded-'));
  chmodSync(folder, 0o711);
  const release = removeFolderOnExit(folder);
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
    release();
  });
  return folder;
}

/** Waits up to 40 s until the condition is true. */
export async function waitUntil(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await pollUntil(check, { timeoutMs: 40_000 }))) throw new Error(`never happened: ${what}`);
}

export const isGone = (pid: number) => inspectProcess(pid) === null;

export interface Launcher {
  child: ChildProcess;
  out: () => string;
  err: () => string;
  /** Resolves when it prints `ready`. */
  ready: () => Promise<void>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** If the test is killed, the launcher ends too. */
const endsWithItsInput = 'data:text/javascript,process.stdin.once("end",()=>process.exit(1)).resume()';

/** Runs the launcher, without a Redis on PATH. */
export function runLauncher(dataDir: string, env: Record<string, string> = {}): Launcher {
  const program = join(inject('bundle'), 'ams.js');
  const child = spawn(process.execPath, ['--import', endsWithItsInput, program, 'start'], {
    env: { PATH: '/nowhere', DATA_DIR: dataDir, PORT: '0', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const exited = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exited;
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    out: () => out,
    err: () => err,
    ready: async () => {
      await waitUntil(`ready; output: ${err}`, () => hasEnded() || /^ready /m.test(out));
      if (hasEnded()) throw new Error(`the launcher ended: ${err}`);
    },
    exited,
  };
}

/** The process id of the PostgreSQL server of this data folder. */
export function readPostgresPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}
