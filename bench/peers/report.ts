import type { PeerFigures, PeersMeasurement } from './measure.ts';

interface Row {
  measure: string;
  /** The numbers of one server; null for what was not measured. */
  read(figures: PeerFigures): readonly number[] | null;
  /** Decimal places. */
  places: number;
}

const dash = '–';

function listRows({ members, sockets }: PeersMeasurement): Row[] {
  const row = (measure: string, read: Row['read'], places = 0): Row => ({ measure, read, places });
  return [
    row('messages/s stored and delivered, 32 in flight', ({ in_flight_32_per_s }) => [in_flight_32_per_s]),
    row('the same, 256 in flight', ({ in_flight_256_per_s }) => [in_flight_256_per_s]),
    row('CPU ms of a message, server and database', ({ cpu_ms }) => (cpu_ms === null ? null : [cpu_ms]), 2),
    row('send to socket at 200/s, p50 / p99 ms', ({ steady_ms: { p50, p99 } }) => [p50, p99], 1),
    row(`thread of ${members} at 20/s, p50 / p99 ms to each`, ({ group_ms: { p50, p99 } }) => [p50, p99], 1),
    row('the same thread at full speed, frames/s', ({ group_frames_per_s }) => [group_frames_per_s]),
    row(
      `idle socket of ${sockets}, marginal / average KB`,
      ({ idle }) => {
        return idle && [idle.marginal_kb, idle.average_kb];
      },
      1,
    ),
    row('connects/s, credentials checked', ({ idle }) => idle && [idle.connects_per_s]),
    row('lost / duplicated / reordered', ({ faults }) => [faults.lost, faults.duplicated, faults.reordered]),
    row('not stored', ({ not_stored }) => (not_stored === null ? null : [not_stored])),
  ];
}

/** Rows of counts, which have no ratio. */
const countedRows = 2;

/** Formats the figures as one table, with the ratio of each transport of the service to each other server. */
export function formatPeers(measured: PeersMeasurement): string {
  const { peers, notes } = measured;
  const own = peers.slice(0, 2);
  const other = peers.find(({ name }) => name === 'ejabberd') ?? peers.at(-1);
  const rows = listRows(measured);
  const head = [
    '',
    ...peers.map(({ name }) => name),
    ...own.map((_, at) => `${at === 0 ? 'calls' : 'POST'} ÷ ${other?.name ?? ''}`),
  ];
  const body = rows.map((row, at) => [
    row.measure,
    ...peers.map((peer) => formatNumbers(row.read(peer), row.places)),
    ...own.map((peer) => {
      const hasRatio = at < rows.length - countedRows && other !== undefined;
      return hasRatio ? formatNumbers(divide(row.read(peer), row.read(other)), 2) : '';
    }),
  ]);
  const table = [head, ...body];
  const widths = head.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  const lines = table.map((cells) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return [...lines, ...notes, ''].join('\n');
}

function divide(own: readonly number[] | null, other: readonly number[] | null): readonly number[] | null {
  return own && other && own.map((value, at) => value / (other[at] ?? Number.NaN));
}

function formatNumbers(values: readonly number[] | null, places: number): string {
  return values === null ? dash : values.map((value) => value.toFixed(places)).join(' / ');
}
