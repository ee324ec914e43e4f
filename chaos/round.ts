import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from '../scripts/parts/run-program.ts';
import { startEnvironment } from './environment.ts';
import { injectFaults } from './faults/faults.ts';
import { readInstallation, type Installation } from './installation.ts';
import { formatViolations, summarize } from './report.ts';
import { runChaos } from './run.ts';
import { timeoutSignal } from './timeout-signal.ts';

/** A round ends after three minutes in any case. */
const limitMs = 180_000;
/** Leaves a minute for the checks after the faults. */
const faultsMs = 120_000;
const size = { agents: 12, threads: 10 };
/** Short runs have shorter calm times, so that they cover more kinds of faults. */
const calmDurationMs = (seconds: number): number => Math.min(1_500, seconds * 25);

export interface RoundOptions {
  seconds: number;
  seed: number;
  /** Of the data, which stay there; undefined for a temporary one. */
  folder?: string;
  /** The names of the owners begin with it. */
  name?: string;
}

export interface Round {
  figures: { seed: number; redis: boolean } & ReturnType<typeof summarize>;
  /** The state at the end; null without a folder. */
  installation: Installation | null;
  passed: boolean;
}

/** Starts the service, runs load and faults, checks everything, and stops it. Logs what was violated, and where the logs are. */
export async function runRound(
  { seconds, seed, folder, name }: RoundOptions,
  program: Program,
): Promise<Round> {
  const { signal, fail, log } = program;
  const faults_until = Date.now() + faultsMs;
  const limit = setTimeout(() => fail(new Error('not finished after three minutes')), limitMs).unref();
  log(`seed ${seed}, ${seconds} s`);
  const complaints: string[] = [];
  const onComplaint = (what: string) => void complaints.push(what);
  const environment = await startEnvironment({ folder, signal, onComplaint });
  if (!environment.redis)
    log('no valkey-server or redis-server on PATH: queues and bus run on PostgreSQL, without Redis faults');
  let passed = false;
  try {
    const result = await runChaos(environment, {
      async injectFaults() {
        // On a slow machine, the start takes part of the time.
        const over = timeoutSignal(Math.min(seconds * 1_000, faults_until - Date.now()), signal);
        return injectFaults(environment, { seed, calm_ms: calmDurationMs(seconds), over, log });
      },
      seed,
      size: { ...size, ...(name && { name }) },
      signal,
      log,
      complaints,
    });
    passed = result.violations.length === 0;
    if (!passed) {
      await writeFile(join(environment.logs, 'history.json'), JSON.stringify(result, null, 1));
      log(formatViolations(result.violations));
    }
    const figures = { seed, redis: environment.redis !== null, ...summarize(result) };
    const installation = folder === undefined ? null : await readInstallation(environment);
    return { figures, installation, passed };
  } finally {
    await environment.stop(!passed);
    clearTimeout(limit);
    if (!passed)
      log(`seed ${seed}; the logs, and the history if the run got that far, are in ${environment.logs}`);
  }
}
