import type { Core } from '../../../src/compose.ts';
import { makeReader } from '../population.ts';
import { openHistory } from './load.ts';

export interface HistoryParts {
  /** Of the reader. */
  threads: number;
  other_threads: number;
  signal: AbortSignal;
}

/** Who talks to the reader and with each other. */
const others = 40;

/** A history with nothing in it yet, and the agent that will read it. */
export async function beginHistory(core: Core, parts: HistoryParts) {
  const { threads, other_threads, signal } = parts;
  const { reader, agent_ids } = await makeReader(core, 'history', others);
  const url = core.config.DATABASE_URL;
  const history = await openHistory({
    url,
    reader_id: reader.id,
    agent_ids,
    threads,
    other_threads,
    signal,
  });
  return { reader, history };
}
