import type { History } from '../history.ts';
import { checkSideEffects } from './side-effects.ts';
import { checkFeeds } from './feeds.ts';
import type { Violation } from './violation.ts';
import { checkReaders } from './readers.ts';
import { checkThreads } from './threads.ts';

/** Compares the observed events and messages with the acknowledged requests; returns all violations. */
export function checkHistory(history: History): Violation[] {
  const violations: Violation[] = [
    ...checkSideEffects(history),
    ...checkThreads(history),
    ...checkFeeds(history),
    ...checkReaders(history),
    ...history.outbox.map((detail): Violation => ({ kind: 'owed', detail })),
    ...history.complaints.map((detail): Violation => ({ kind: 'complaint', detail })),
  ];
  for (const agent of history.agents) {
    if (history.feeds.some(({ agent_id }) => agent_id === agent)) continue;
    violations.push({ kind: 'lost', detail: `the feed of ${agent}` });
  }
  return violations;
}
