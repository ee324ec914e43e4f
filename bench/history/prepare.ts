import type { Core } from '../../src/compose.ts';
import { createReader } from '../population.ts';
import { openHistoryDatabase } from './database.ts';

export interface PrepareHistoryOptions {
  /** Threads of the reader. */
  threads: number;
  other_threads: number;
  signal: AbortSignal;
}

/** Number of agents who write to the reader and to each other. */
const otherThreadMembers = 40;

/** Creates an empty history and the agent that will read it. */
export async function prepareHistory(core: Core, parts: PrepareHistoryOptions) {
  const { threads, other_threads, signal } = parts;
  const { reader, agent_ids } = await createReader(core, 'history', otherThreadMembers);
  const url = core.config.DATABASE_URL;
  const history = await openHistoryDatabase({
    url,
    reader_id: reader.id,
    agent_ids,
    threads,
    other_threads,
    signal,
  });
  return { reader, history };
}
