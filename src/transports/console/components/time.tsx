import { formatTime } from '../time-zone.ts';
import { useLayoutContext } from './layout-context.ts';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A time (ms since the epoch) as relative time, with the exact time as tooltip. Over 30 days away it is shown as a date. */
export function Time({ at, now = Date.now() }: { at: number; now?: number }) {
  const { timeZone } = useLayoutContext();
  const exact = formatTime(at, timeZone, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <time dateTime={new Date(at).toISOString()} title={exact}>
      {relativeTime(at - now) ?? exact}
    </time>
  );
}

const lengths = [...units, ['second', 1_000]] as const;

/** A length of time (ms) in the largest unit that fits: "2 hours". */
export function lengthText(lengthMs: number): string {
  const [unit, unitMs] = lengths.find(([, eachMs]) => lengthMs >= eachMs) ?? (['second', 1_000] as const);
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.trunc(lengthMs / unitMs));
}

function relativeTime(differenceMs: number): string | undefined {
  const size = Math.abs(differenceMs);
  if (size > 30 * 86_400_000) return undefined;
  const [unit, lengthMs] = units.find(([, unitMs]) => size >= unitMs) ?? [];
  if (unit === undefined) return differenceMs <= 0 ? 'just now' : 'in less than a minute';
  return relative.format(Math.trunc(differenceMs / lengthMs), unit);
}
