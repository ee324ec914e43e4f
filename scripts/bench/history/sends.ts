import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { type Compared, compareInTurn, openMeter } from '../meter.ts';
import type { Stage } from '../stage.ts';
import { beginHistory, type HistoryParts } from './begin.ts';
import { openTexts } from './words.ts';

export interface CompareSendsOptions extends HistoryParts {
  /** Of each measurement. */
  seconds: number;
  /** Another installation, with a database and a Redis of its own. */
  startOther(): Promise<Stage>;
  say: (line: string) => void;
  fail: (reason: Error) => void;
}

const sending = { threads: 64, in_flight: 32 };
/** The other processes have served all the reads before. */
const warmUp_s = [8, 4] as const;

/**
 * What a send costs beside a history of the smallest size, in an installation that is started for it, and beside the one that has grown,
 * in turn. Other agents send in other threads; they use the words of the history, since the index of words grows with it.
 */
export async function compareSends(
  grown: Stage,
  smallest: number,
  options: CompareSendsOptions,
): Promise<Compared> {
  const { seconds, startOther, say, signal, fail } = options;
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const small = await startOther();
    ends.push(small.stop);
    await load(small, smallest, options);
    const parts = { ...sending, owner: 'sends', signal, fail, nextText: openTexts().next };
    const atFirst = await openMeter(small, { ...parts, bases: [small.base] });
    ends.push(atFirst.close);
    const atLast = await openMeter(grown, { ...parts, bases: [grown.base] });
    ends.push(atLast.close);
    return await compareInTurn([atFirst, atLast], { seconds, warmUp_s, say });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

async function load(stage: Stage, messages: number, options: HistoryParts): Promise<void> {
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
  try {
    const { history } = await beginHistory(core, options);
    try {
      await history.growTo(messages);
    } finally {
      await history.close();
    }
  } finally {
    await core.close();
  }
}
