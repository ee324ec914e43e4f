/** The ways to reach a person who has no page open. */
export const notificationChannels = ['email', 'webhook'] as const;

export type NotificationChannel = (typeof notificationChannels)[number];

/** When messages are sent: soon after something begins to wait, or once a day. */
export const notificationTimings = ['at_once', 'daily'] as const;

export type NotificationTiming = (typeof notificationTimings)[number];

export type NotificationPurpose = 'items' | 'test' | 'confirmation';

/** The kinds of items that wait for a person. */
export type WaitingKind = 'approval' | 'contact_request' | 'question' | 'no_answer' | 'webhook' | 'inbox';

/** Something that waits for a person. Names of others are one line of visible characters. */
export interface WaitingItem {
  /** The same as long as this item waits, and never the key of another one. */
  key: string;
  kind: WaitingKind;
  /** The person's agent that it concerns. */
  agent_id: string;
  agent_handle: string;
  /** One sentence without a full stop. It names who asks. */
  text: string;
  /** Milliseconds. */
  since: number;
  /** Path of the page on which the person answers. */
  path: string;
}

/** The job that finds the people of something that begins to wait. */
export const noticeJob = 'notice-waiting';

/**
 * A job for the outbox after something begins to wait for the people of an agent, or of the members of a thread; after a person changed the
 * settings; or after a message to a person was stored.
 * @param subject_id the agent, thread, account, or message.
 * @param cause differs for each job of the subject.
 */
export function toNoticeJob(subject_id: string, cause: string): { job: string; subject_id: string } {
  return { job: noticeJob, subject_id: `${subject_id}/${cause}` };
}

/** The subjects of jobs of `toNoticeJob`. */
export function readNoticeSubjects(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => id.split('/')[0] ?? ''))];
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The timing of notifications, in milliseconds. */
export interface NotificationPacing {
  /** How long items are gathered for one message. */
  gatherMs: number;
  /** The interval of checks that find what no event announced, such as a missing answer. */
  recheckMs: number;
  /** An attempt without a result after this time is repeated. Longer than the timeouts of e-mail and webhooks. */
  leaseMs: number;
  /** The delay before each attempt, counted from the previous one. */
  scheduleMs: readonly number[];
  /** A channel that fails for this long is turned off. */
  offAfterMs: number;
}

export const defaultNotificationPacing: NotificationPacing = {
  gatherMs: minute,
  recheckMs: 5 * minute,
  leaseMs: minute,
  scheduleMs: [0, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour],
  offAfterMs: 3 * day,
};

/** How long a page counts as open after its stream began. The stream ends earlier and begins again if the browser is still there. */
export const pageLease = { openMs: 45 * second, streamMs: 25 * second };

/** How long the link that confirms an address is valid. */
export const confirmationLifeMs = day;

/** How long an item is remembered that no longer waits. */
export const itemMemoryMs = 30 * day;

/** A delay from UTC such as `+05:30`. */
const offsetPattern = /^([+-])(0\d|1[0-4]):([0-5]\d)$/;

/** Whether this is an IANA time zone of this system, or a delay from UTC such as `+05:30`. */
export function isTimeZone(zone: string): boolean {
  if (offsetPattern.test(zone)) return true;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The first time (ms) after `after` at which a clock in this time zone, by default UTC, shows this full hour. In the gap of a change to summer time: one hour later. */
export function nextDigestAt(
  after: number,
  { hour: at, time_zone }: { hour: number; time_zone: string | null },
): number {
  const offsetAt = (time: number) => offsetOf(time, time_zone ?? 'UTC');
  const today = Math.floor((after + offsetAt(after)) / day) * day;
  const candidates = [0, 1, 2].map((days) => {
    const local = today + days * day + at * hour;
    // The offset of the wanted time can differ from the one of today.
    return local - offsetAt(local - offsetAt(local));
  });
  return candidates.find((time) => time > after) ?? after + day;
}

/** Milliseconds to add to UTC. */
function offsetOf(time: number, zone: string): number {
  const [, sign, hours, minutes] = offsetPattern.exec(zone) ?? [];
  if (sign !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) * hour + Number(minutes) * minute);
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const read = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const local = Date.UTC(
    read('year'),
    read('month') - 1,
    read('day'),
    read('hour'),
    read('minute'),
    read('second'),
  );
  return local - Math.floor(time / second) * second;
}
