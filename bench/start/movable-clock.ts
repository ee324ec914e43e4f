import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Bench } from './service.ts';

/** Moves the wall clock of this process and of all that have its environment. Timers are not moved. */
export interface MovableClock {
  /** What another process needs to have the same clock. */
  env: Record<string, string>;
  /** Moves the clock forward at once. */
  advance(seconds: number): void;
}

const fileVariable = 'FAKETIME_TIMESTAMP_FILE';

/** The clock of this process if it is movable: see `runWithMovableClock`. */
export function findMovableClock(): MovableClock | undefined {
  const { LD_PRELOAD, [fileVariable]: file } = process.env;
  if (LD_PRELOAD === undefined || file === undefined) return undefined;
  return {
    env: environment(LD_PRELOAD, file),
    advance(seconds) {
      const next = `${file}.next`;
      writeFileSync(next, `+${Number(readFileSync(file, 'utf8')) + seconds}`);
      renameSync(next, file);
    },
  };
}

/**
 * Runs the benchmark again in a process whose clock is movable, with libfaketime.
 * @returns its figures.
 * @throws if libfaketime is not installed, or the process failed.
 */
export async function runWithMovableClock({ signal }: Bench): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'ams-clock-'));
  try {
    // PostgreSQL can run as another user.
    chmodSync(folder, 0o755);
    const file = join(folder, 'offset');
    writeFileSync(file, '+0');
    const child = spawn(process.execPath, [...process.argv.slice(1), '--json'], {
      env: { ...process.env, ...environment(findLibrary(), file) },
      stdio: ['ignore', 'pipe', 'inherit'],
      signal,
      killSignal: 'SIGTERM',
    });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (code !== 0) throw new Error(`the process with the movable clock ended with ${String(code)}`);
    return JSON.parse(output) as object;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const environment = (library: string, file: string) => ({
  LD_PRELOAD: library,
  [fileVariable]: file,
  // Every reading has the offset of this moment, in all processes.
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  FAKETIME_DISABLE_SHM: '1',
  NO_FAKE_STAT: '1',
});

function findLibrary(): string {
  const parents = readdirSync('/usr/lib').map((name) => `/usr/lib/${name}/faketime/libfaketimeMT.so.1`);
  const library = parents.find((path) => existsSync(path));
  if (library === undefined) throw new Error('needs libfaketime; on Debian: apt-get install faketime');
  return library;
}
