import type { History } from '../history.ts';
import { checkSideEffects } from './side-effects.ts';
import { checkFeeds } from './feeds.ts';
import type { Violation } from './violation.ts';
import { checkReaders } from './readers.ts';
import { checkThreads } from './threads.ts';

/** Holds everything that was seen against what was acknowledged; answers what is wrong. */
export function checkHistory(history: History): Violation[] {
  const flaws: Violation[] = [
    ...checkSideEffects(history),
    ...checkThreads(history),
    ...checkFeeds(history),
    ...checkReaders(history),
    ...history.outbox.map((detail): Violation => ({ kind: 'owed', detail })),
    ...history.complaints.map((detail): Violation => ({ kind: 'complaint', detail })),
  ];
  for (const agent of history.agents) {
    if (history.feeds.some(({ agent_id }) => agent_id === agent)) continue;
    flaws.push({ kind: 'lost', detail: `the feed of ${agent}` });
  }
  return flaws;
}
