import { toMegabytes } from './snapshot.ts';
import type { SoakMeasurement } from './measure.ts';
import { slopeOf } from './verdict.ts';

/** Smaller tables are not reported. */
const minReportedBytes = 1_000_000;

/** Formats the figures as text. */
export function formatSoak(measured: SoakMeasurement): string {
  const { minutes, tables, grown } = measured;
  const second = minutes.slice(Math.floor(minutes.length / 2)).map(({ memory_mb }) => memory_mb);
  const rise = (name: keyof (typeof second)[number]) =>
    `${name} ${slopeOf(second.map((memory) => memory[name] ?? 0)).toFixed(1)}`;
  const large = tables.filter(({ end }) => end.bytes >= minReportedBytes);
  return [
    `${measured.rate} messages/s for ${minutes.length} minutes: ${measured.messages} messages`,
    `lost, duplicated   ${measured.lost}, ${measured.duplicated}; queue and outbox empty after ${measured.drain_ms} ms`,
    '',
    formatRow(['minute', 'API MB', 'worker', 'PostgreSQL', 'Redis', 'queued', 'outbox', 'p50 ms', 'p99 ms']),
    ...minutes.map(({ minute, memory_mb: { api, worker, postgres, redis }, queued, outbox, delivery_ms }) =>
      formatRow([
        minute,
        api,
        worker,
        postgres,
        redis ?? '-',
        queued,
        outbox,
        delivery_ms.p50,
        delivery_ms.p99,
      ]),
    ),
    `rise over the second half, MB: ${(['api', 'worker', 'postgres', 'redis'] as const).map(rise).join(', ')}`,
    '',
    formatRow(['rows, half', 'MB, half', 'rows, end', 'MB, end', 'table']),
    ...large.map(({ half_time, end }) =>
      formatRow([half_time.rows, toMegabytes(half_time.bytes), end.rows, toMegabytes(end.bytes), end.name]),
    ),
    '',
    grown.length === 0 ? 'memory is flat, and no table grows beyond its data' : `grows: ${grown.join(', ')}`,
    '',
  ].join('\n');
}

function formatRow(cells: readonly (string | number)[]): string {
  return cells.map((cell) => String(cell).padStart(10)).join('  ');
}
