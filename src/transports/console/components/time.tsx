const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A time in milliseconds: how long ago or ahead, and exactly for whoever points at it. Whatever is over a month off as a date. */
export function Time({ at, now = Date.now() }: { at: number; now?: number }) {
  const exact = `${dates.format(at)} UTC`;
  return (
    <time dateTime={new Date(at).toISOString()} title={exact}>
      {relativeTime(at - now) ?? exact}
    </time>
  );
}

function relativeTime(difference: number): string | undefined {
  const size = Math.abs(difference);
  if (size > 30 * 86_400_000) return undefined;
  const [unit, length] = units.find(([, each]) => size >= each) ?? [];
  if (unit === undefined) return difference <= 0 ? 'just now' : 'in less than a minute';
  return relative.format(Math.trunc(difference / length), unit);
}
