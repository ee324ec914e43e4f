import type { Violation } from './check/violation.ts';
import type { Attempt, History } from './history.ts';
import type { ChaosResult } from './run.ts';
import { maxRecoveryTime } from './recovery-time.ts';

/** The figures of a run. */
export function summarize({ history, faults, violations, uncertainOutcomes, settleMs }: ChaosResult) {
  const { sends, contact_requests, marks, member_changes, uploads, webhooks, redrives, task_calls } = history;
  const { readers, stored } = history;
  const seen: Record<string, number> = {};
  const reconnects: Record<string, number> = {};
  for (const { name, seen: events, connections } of readers) {
    seen[name] = (seen[name] ?? 0) + events.length;
    // The first connection of a reader is not a reconnect.
    const reconnectCount = Object.values(connections).reduce((sum, count) => sum + count, -1);
    reconnects[name] = (reconnects[name] ?? 0) + reconnectCount;
  }
  const actions = [sends, contact_requests, marks, member_changes, uploads, webhooks, redrives, task_calls];
  const attempts = actions.flat<Attempt<unknown>[][]>();
  const recovery = maxRecoveryTime(history, faults);
  return {
    sends: countBy(sends.map(({ kind }) => kind)),
    contact_requests: contact_requests.length,
    read_marks: countBy(marks.map(({ kind }) => kind)),
    member_changes: countBy(member_changes.map(({ kind }) => kind)),
    files: uploads.length,
    webhooks: webhooks.length,
    webhook_requests: webhooks.reduce((sum, { posts }) => sum + posts.length, 0),
    ...summarizeLeases(history),
    tasks: countBy(history.tasks.map(({ state }) => state)),
    task_changes: history.tasks.reduce((sum, { generation }) => sum + generation, 0),
    ...summarizeA2a(history),
    acknowledged: attempts.filter(({ answers }) => answers.length > 0).length,
    tried_again: attempts.reduce((sum, attempt) => sum + attempt.attempts - 1, 0),
    doubts: uncertainOutcomes,
    threads: new Set(stored.map(({ thread_id }) => thread_id)).size,
    readers: readers.length,
    events_seen: seen,
    reconnects,
    faults: countBy(faults.map(({ kind }) => kind)),
    longest_until_whole_ms: recovery?.maxMs ?? 0,
    longest_after: recovery?.after ?? 'nothing',
    settled_ms: settleMs,
    flaws: countBy(violations.map(({ kind }) => kind)),
  };
}

/** The figures of the inboxes: leases by transport and by what their instances did, and the writes that took effect. */
function summarizeLeases({ leases, redrives, stored_inboxes }: History) {
  const writes = leases.flatMap((lease) => lease.writes);
  const outcomes = writes.map(({ kind, draft, answers }) => {
    const [answer] = answers;
    if (!answer) return 'unknown';
    if (answer.lost) return 'lost';
    return kind === 'acknowledge' && draft ? 'reply' : kind;
  });
  return {
    /** Each killed one was replaced. */
    instances: new Set(leases.map(({ consumer }) => consumer)).size,
    leases: countBy(leases.map(({ kind }) => kind)),
    lease_courses: countBy(leases.map(({ course }) => course)),
    lease_writes: countBy(outcomes),
    redrives: redrives.length,
    dead_items: stored_inboxes.reduce((sum, { dead }) => sum + dead.length, 0),
  };
}

/** The tasks that were opened over A2A, the streams that followed them, and what these told. */
function summarizeA2a({ a2a_tasks }: History) {
  const updates = a2a_tasks.flatMap(({ seen }) => seen.map(({ update }) => update));
  return {
    a2a_tasks: a2a_tasks.length,
    a2a_streams: a2a_tasks.reduce((sum, { streams }) => sum + streams, 0),
    a2a_updates: countBy(updates),
  };
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** How many violations of each kind are printed. */
const maxListedViolations = 5;

/** Formats the violations, a few of each kind. */
export function formatViolations(violations: readonly Violation[]): string {
  const lines: string[] = [];
  for (const kind of new Set(violations.map((violation) => violation.kind))) {
    const ofKind = violations.filter((violation) => violation.kind === kind);
    lines.push(...ofKind.slice(0, maxListedViolations).map(({ detail }) => `${kind}: ${detail}\n`));
    if (ofKind.length > maxListedViolations)
      lines.push(`${kind}: and ${ofKind.length - maxListedViolations} more\n`);
  }
  return lines.join('');
}
