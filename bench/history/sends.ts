import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { type CostComparison, compareInTurn, openCostMeter } from '../cost-comparison.ts';
import type { Environment } from '../environment.ts';
import { prepareHistory, type PrepareHistoryOptions } from './prepare.ts';
import { createTextGenerator } from './vocabulary.ts';

export interface CompareSendsOptions extends PrepareHistoryOptions {
  /** Of each measurement. */
  seconds: number;
  /** Another installation, with a database and a Redis of its own. */
  startSecondEnvironment(): Promise<Environment>;
  log: (line: string) => void;
  fail: (reason: Error) => void;
}

const sending = { threads: 64, in_flight: 32 };
/** The other processes have served all the reads before. */
const warmUpSeconds = [8, 4] as const;

/**
 * What a send costs beside a history of the smallest size, in an installation that is started for it, and beside the one that has grown,
 * in turn. Other agents send in other threads; they use the words of the history, since the index of words grows with it.
 */
export async function compareSends(
  grown: Environment,
  smallest: number,
  options: CompareSendsOptions,
): Promise<CostComparison> {
  const { seconds, startSecondEnvironment, log, signal, fail } = options;
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const small = await startSecondEnvironment();
    ends.push(small.stop);
    await seedHistory(small, smallest, options);
    const parts = { ...sending, owner: 'sends', signal, fail, nextText: createTextGenerator().next };
    const atFirst = await openCostMeter(small, { ...parts, bases: [small.base] });
    ends.push(atFirst.close);
    const atLast = await openCostMeter(grown, { ...parts, bases: [grown.base] });
    ends.push(atLast.close);
    return await compareInTurn([atFirst, atLast], { seconds, warmUp_s: warmUpSeconds, say: log });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

async function seedHistory(
  stage: Environment,
  messages: number,
  options: PrepareHistoryOptions,
): Promise<void> {
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
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
