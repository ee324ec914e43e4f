import type { History } from '../history.ts';
import { checkEffects } from './effects.ts';
import { checkFeeds } from './feeds.ts';
import type { Flaw } from './flaw.ts';
import { checkReaders } from './readers.ts';
import { checkThreads } from './threads.ts';

/** Holds everything that was seen against what was acknowledged; answers what is wrong. */
export function check(history: History): Flaw[] {
  const flaws: Flaw[] = [
    ...checkEffects(history),
    ...checkThreads(history),
    ...checkFeeds(history),
    ...checkReaders(history),
    ...history.outbox.map((what): Flaw => ({ kind: 'owed', what })),
    ...history.complaints.map((what): Flaw => ({ kind: 'complaint', what })),
  ];
  for (const agent of history.agents) {
    if (history.feeds.some(({ agent_id }) => agent_id === agent)) continue;
    flaws.push({ kind: 'lost', what: `the feed of ${agent}` });
  }
  return flaws;
}
