import type { History } from '../history.ts';
import { checkA2aTasks } from './a2a.ts';
import { parseFeed } from './event-data.ts';
import { checkFeeds } from './feeds.ts';
import { checkFiles } from './files.ts';
import { checkHandledMarks } from './handled-marks.ts';
import { checkInboxItems } from './inbox-items.ts';
import { checkLeases } from './leases.ts';
import { checkMemberChanges } from './member-changes.ts';
import { checkMessages } from './messages.ts';
import { checkReaders } from './readers.ts';
import { checkReceipts } from './receipts.ts';
import { checkSideEffects } from './side-effects.ts';
import { buildThreadLogs } from './thread-log.ts';
import { checkTasks } from './tasks.ts';
import { checkThreads } from './threads.ts';
import type { Violation } from './violation.ts';
import { checkWebhooks } from './webhooks.ts';

/** Compares the observed events and the stored state with the acknowledged requests; returns all violations. */
export function checkHistory(history: History): Violation[] {
  const feeds = history.feeds.map(parseFeed);
  const logs = buildThreadLogs(history, feeds);
  const violations: Violation[] = [
    ...feeds.flatMap((feed) => feed.violations),
    ...[...logs.values()].flatMap((log) => log.violations),
    ...checkSideEffects(history),
    ...checkMessages(history, logs),
    ...checkMemberChanges(history, logs),
    ...checkThreads(history, logs),
    ...checkReceipts(history, feeds, logs),
    ...checkLeases(history),
    ...checkHandledMarks(history, logs),
    ...checkInboxItems(history, feeds, logs),
    ...checkTasks(history, feeds, logs),
    ...checkA2aTasks(history),
    ...checkFiles(history, feeds),
    ...checkFeeds(history, feeds, logs),
    ...checkReaders(history),
    ...checkWebhooks(history),
    ...history.outbox.map((detail): Violation => ({ kind: 'owed', detail })),
    ...history.complaints.map((detail): Violation => ({ kind: 'complaint', detail })),
  ];
  for (const agent of history.agents) {
    if (history.feeds.some(({ agent_id }) => agent_id === agent)) continue;
    violations.push({ kind: 'lost', detail: `the feed of ${agent}` });
  }
  return violations;
}
