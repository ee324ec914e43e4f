import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { type CostComparison, compareInTurn, openCostMeter } from '../cost-comparison.ts';
import type { Environment } from '../environment.ts';
import { prepareHistory, type PrepareHistoryOptions } from './prepare.ts';
import { createTextGenerator } from './vocabulary.ts';

export interface CompareSendsOptions extends PrepareHistoryOptions {
  /** Duration of each measurement. */
  seconds: number;
  /** Starts another installation with its own database and Redis. */
  startSecondEnvironment(): Promise<Environment>;
  log: (line: string) => void;
  fail: (reason: Error) => void;
}

const sending = { threads: 64, in_flight: 32 };
/** The processes of the grown installation are warm already: they have served all reads. */
const warmUpSeconds = [8, 4] as const;

/**
 * Compares the cost of a send with a history of the smallest size, in a new installation, and with the grown history, alternately.
 * Other agents send in other threads. They use the words of the history, because the search index grows with it.
 */
export async function compareSends(
  grown: Environment,
  smallest: number,
  options: CompareSendsOptions,
): Promise<CostComparison> {
  const { seconds, startSecondEnvironment, log, signal, fail } = options;
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    const small = await startSecondEnvironment();
    cleanups.push(small.stop);
    await seedHistory(small, smallest, options);
    const parts = { ...sending, owner: 'sends', signal, fail, nextText: createTextGenerator().next };
    const atFirst = await openCostMeter(small, { ...parts, bases: [small.base] });
    cleanups.push(atFirst.close);
    const atLast = await openCostMeter(grown, { ...parts, bases: [grown.base] });
    cleanups.push(atLast.close);
    return await compareInTurn([atFirst, atLast], { seconds, warmUp_s: warmUpSeconds, log });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

async function seedHistory(
  environment: Environment,
  messages: number,
  options: PrepareHistoryOptions,
): Promise<void> {
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  try {
    const { history } = await prepareHistory(core, options);
    try {
      await history.growTo(messages);
    } finally {
      await history.close();
    }
  } finally {
    await core.close();
  }
}
