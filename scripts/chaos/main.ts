import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { oneLine } from '../../src/embedded/launcher-error.ts';
import { disturb } from './faults.ts';
import { readOptions, usage } from './options.ts';
import { figuresOf, flawList, table } from './report.ts';
import { runChaos } from './run.ts';
import { startStage } from './stage.ts';
import { until } from './until.ts';

/** Whatever happens, the run is over after three minutes. */
const limit_ms = 180_000;
/** So that what comes after them has a minute. */
const faults_ms = 120_000;
const size = { agents: 12, threads: 10 };
/** A short run has shorter calms, so that it has seen as many kinds of faults as it can. */
const calmOf = (seconds: number): number => Math.min(1_500, seconds * 25);

async function main(): Promise<number> {
  const { seconds, seed, json, help } = readOptions();
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  const faults_until = Date.now() + faults_ms;
  const over = new AbortController();
  const { signal } = over;
  setMaxListeners(0, signal); // every reader and every wait listens to it
  const fail = (reason: Error) => over.abort(reason);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => fail(new Error('interrupted')));
  }
  process.on('disconnect', () => fail(new Error('the parent process is gone')));
  for (const stream of [process.stdout, process.stderr]) stream.on('error', fail);
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', (reason) =>
    fail(reason instanceof Error ? reason : new Error(String(reason))),
  );
  setTimeout(() => fail(new Error('not over after three minutes')), limit_ms).unref();

  const say = (line: string) => process.stderr.write(`${line}\n`);
  say(`seed ${seed}, ${seconds} s`);
  const complaints: string[] = [];
  const stage = await startStage({ signal, complain: (what) => void complaints.push(what) });
  if (!stage.redis)
    say(
      'no valkey-server or redis-server on PATH: queues and bus run on PostgreSQL, and no fault is of Redis',
    );
  let passed = false;
  try {
    const result = await runChaos(stage, {
      async disturb() {
        // A slow machine starts late.
        const enough = until(Math.min(seconds * 1_000, faults_until - Date.now()), signal);
        return disturb(stage, { seed, calm_ms: calmOf(seconds), over: enough, say });
      },
      seed,
      size,
      signal,
      say,
      complaints,
    });
    const figures = { seed, redis: stage.redis !== null, ...figuresOf(result) };
    process.stdout.write(json ? `${JSON.stringify(figures)}\n` : table(figures));
    passed = result.flaws.length === 0;
    if (!passed) {
      await writeFile(join(stage.logs, 'history.json'), JSON.stringify(result, null, 1));
      say(flawList(result.flaws));
    }
  } catch (error) {
    signal.throwIfAborted(); // what was first is the cause
    throw error;
  } finally {
    await stage.stop(!passed);
    if (!passed)
      say(`seed ${seed}; the logs, and what everybody saw if it came so far, are in ${stage.logs}`);
  }
  return passed ? 0 : 1;
}

process.exit(
  await main().catch((error: unknown) => {
    process.stderr.write(`${oneLine(error)}\n`);
    return 1;
  }),
);
