import type { Context } from 'koa';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { isTimeZone } from '../../../packages/core/src/domain/notifications.ts';

/**
 * Returns the time zone in which pages show times to a reader: the one that the person chose, else that of the browser, which live.js
 * stores in a cookie. Undefined: unknown.
 */
export function timeZoneOf(ctx: Context, person: Person | undefined): string | undefined {
  const fromBrowser = decodeZone(ctx.cookies.get('ams_zone', { signed: false }));
  const zone = [person?.time_zone ?? undefined, fromBrowser].find(
    (one) => one !== undefined && isTimeZone(one),
  );
  return zone && canonicalZone(zone);
}

function decodeZone(text: string | undefined): string | undefined {
  return text?.replaceAll('%2F', '/').replaceAll('%2B', '+');
}

/** One spelling of each zone, so that a client cannot fill the cache of formatters. Undefined where Node does not know it. */
function canonicalZone(timeZone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch (error) {
    // Node 20 has no zones that are offsets.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Enough for the zones of the people who read at a time, with every style. */
const maxFormatters = 500;

/** Formats a time (ms) in a time zone; in UTC, and labelled so, if the zone is unknown. */
export function formatTime(at: number, zone: string | undefined, style: Intl.DateTimeFormatOptions): string {
  const text = formatterOf(zone ?? 'UTC', style).format(at);
  return zone === undefined ? `${text} UTC` : text;
}

function formatterOf(timeZone: string, style: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([timeZone, style]);
  const known = formatters.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...style, timeZone });
  if (formatters.size >= maxFormatters) formatters.clear();
  formatters.set(key, known);
  return known;
}

/** The beginning (ms) of a day such as 2026-11-27 in a time zone. Undefined if the text is no day. */
export function startOfDay(day: string, zone: string | undefined): number | undefined {
  const midnight = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(midnight)) return undefined;
  const local = formatterOf(zone ?? 'UTC', { dateStyle: 'short', timeStyle: 'medium' }).formatToParts(
    midnight,
  );
  const [year, month, date, hour, minute] = (['year', 'month', 'day', 'hour', 'minute'] as const).map(
    (type) => Number(local.find((part) => part.type === type)?.value),
  );
  return 2 * midnight - Date.UTC(year ?? 0, (month ?? 1) - 1, date, hour, minute);
}
