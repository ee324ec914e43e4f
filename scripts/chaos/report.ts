import type { Flaw } from './check/flaw.ts';
import type { Attempted } from './history.ts';
import type { ChaosResult } from './run.ts';
import { longestUntilWhole } from './wholeness.ts';

/** What a run counted, for people and for programs. */
export function figuresOf({ history, faults, flaws, doubts, settled_ms }: ChaosResult) {
  const { sends, asks, marks, readers, stored } = history;
  const seen: Record<string, number> = {};
  const reconnects: Record<string, number> = {};
  for (const { name, seen: events, connections } of readers) {
    seen[name] = (seen[name] ?? 0) + events.length;
    // The first connection of a reader is none that it had to make again.
    const again = Object.values(connections).reduce((sum, count) => sum + count, -1);
    reconnects[name] = (reconnects[name] ?? 0) + again;
  }
  const attempts: Attempted<unknown>[] = [...sends, ...asks];
  const whole = longestUntilWhole(history, faults);
  return {
    sends: countBy(sends.map(({ way }) => way)),
    contact_requests: asks.length,
    read_marks: marks.length,
    acknowledged: attempts.filter(({ answers }) => answers.length > 0).length,
    tried_again: attempts.reduce((sum, { tries }) => sum + tries - 1, 0),
    doubts,
    threads: new Set(stored.map(({ thread_id }) => thread_id)).size,
    readers: readers.length,
    events_seen: seen,
    reconnects,
    faults: countBy(faults.map(({ kind }) => kind)),
    longest_until_whole_ms: whole?.longest_ms ?? 0,
    longest_after: whole?.after ?? 'nothing',
    settled_ms,
    flaws: countBy(flaws.map(({ kind }) => kind)),
  };
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** The figures for people. */
export function table(figures: ReturnType<typeof figuresOf>): string {
  const rows = Object.entries(figures).map(([name, value]): [string, string] => [
    name.replaceAll('_', ' ').replace(/ ms$/, ' (ms)'),
    typeof value === 'object' ? listed(value) : String(value),
  ]);
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}

function listed(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return parts.join(', ') || 'none';
}

/** How many flaws of each kind are told in words. */
const told = 5;

/** What went wrong, a few of each kind. */
export function flawList(flaws: readonly Flaw[]): string {
  const lines: string[] = [];
  for (const kind of new Set(flaws.map((flaw) => flaw.kind))) {
    const ofKind = flaws.filter((flaw) => flaw.kind === kind);
    lines.push(...ofKind.slice(0, told).map(({ what }) => `${kind}: ${what}\n`));
    if (ofKind.length > told) lines.push(`${kind}: and ${ofKind.length - told} more\n`);
  }
  return lines.join('');
}
