import { formatComparison } from '../cost-comparison.ts';
import type { HistoryMeasurement, Timing } from './measure.ts';

/** Formats the figures as text: a table per size, then the growth of the 95th percentiles from the first size to the last. */
export function formatHistory(measured: HistoryMeasurement): string {
  const { sizes, sends, threads, other_threads, requests, in_flight } = measured;
  const where =
    other_threads > 0 ? `${threads} of ${threads + other_threads} threads` : `all ${threads} threads`;
  const lines = [`An agent in ${where}; ${requests} requests of each kind; milliseconds, p50 / p95 / p99`];
  for (const { messages, load_s, timings } of sizes) {
    const header = ['', `rows`, 'one in flight', `${in_flight} in flight`];
    lines.push(
      '',
      `${messages} messages (${load_s} s more of loading)`,
      ...alignColumns([header, ...timings.map(formatTimings)]),
    );
  }
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (first && last && first !== last) {
    const ratios = last.timings.map((timing) => [timing.name, formatGrowth(first.timings, timing)]);
    lines.push(
      '',
      `p95 at ${last.messages} ÷ p95 at ${first.messages}, one in flight`,
      ...alignColumns(ratios),
    );
  }
  const worst = findSlowestSearch(last?.timings ?? []);
  if (worst)
    lines.push('', `slowest search at the last size: ${worst.name.slice(8)}, p95 ${worst.alone.p95} ms`);
  if (first && last && sends) {
    const names = [`${first.messages} messages`, `${last.messages} messages`] as const;
    lines.push('', 'sends, 32 in flight, measured alternately', formatComparison(sends, names).trimEnd());
  }
  return `${lines.join('\n')}\n`;
}

/** The kind of search with the greatest 95th percentile, one request in flight. */
export function findSlowestSearch(timings: readonly Timing[]): Timing | undefined {
  const searches = timings.filter(({ name }) => name.startsWith('search'));
  return searches.toSorted((a, b) => b.alone.p95 - a.alone.p95)[0];
}

function formatTimings({ name, rows, alone, together }: Timing): string[] {
  const times = [alone, together].map(({ p50, p95, p99 }) => `${p50} / ${p95} / ${p99}`);
  return [name, String(rows), ...times];
}

function formatGrowth(before: readonly Timing[], after: Timing): string {
  const same = before.find(({ name }) => name === after.name);
  return same ? (after.alone.p95 / same.alone.p95).toFixed(2) : '';
}

function alignColumns(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
