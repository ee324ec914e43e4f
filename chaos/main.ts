import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatFigures } from '../scripts/parts/format-figures.ts';
import { runProgram } from '../scripts/parts/run-program.ts';
import { injectFaults } from './faults/faults.ts';
import { readOptions, usage } from './options.ts';
import { summarize, formatViolations } from './report.ts';
import { runChaos } from './run.ts';
import { startEnvironment } from './environment.ts';
import { timeoutSignal } from './timeout-signal.ts';

/** The run ends after three minutes in any case. */
const limitMs = 180_000;
/** Leaves a minute for the checks after the faults. */
const faultsMs = 120_000;
const size = { agents: 12, threads: 10 };
/** Short runs have shorter calm times, so that they cover more kinds of faults. */
const calmDurationMs = (seconds: number): number => Math.min(1_500, seconds * 25);

await runProgram(async ({ signal, fail, log }) => {
  const { seconds, seed, json, help } = readOptions();
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  const faults_until = Date.now() + faultsMs;
  setTimeout(() => fail(new Error('not finished after three minutes')), limitMs).unref();

  log(`seed ${seed}, ${seconds} s`);
  const complaints: string[] = [];
  const environment = await startEnvironment({ signal, onComplaint: (what) => void complaints.push(what) });
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
      size,
      signal,
      log,
      complaints,
    });
    const figures = { seed, redis: environment.redis !== null, ...summarize(result) };
    process.stdout.write(json ? `${JSON.stringify(figures)}\n` : formatFigures(figures));
    passed = result.violations.length === 0;
    if (!passed) {
      await writeFile(join(environment.logs, 'history.json'), JSON.stringify(result, null, 1));
      log(formatViolations(result.violations));
    }
  } finally {
    await environment.stop(!passed);
    if (!passed)
      log(`seed ${seed}; the logs, and the history if the run got that far, are in ${environment.logs}`);
  }
  return passed ? 0 : 1;
});
