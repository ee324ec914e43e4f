/** Messages and the bytes of their text. */
export interface Traffic {
  messages: number;
  bytes: number;
}

/** What agents sent and received, and how often the loop guard refused their messages. */
export interface Usage {
  sent: Traffic;
  received: Traffic;
  stopped_loops: number;
}

/** For how many days usage is kept and shown, with the current day. */
export const usageDays = 30;

export const dayMs = 24 * 60 * 60 * 1_000;

/** The start of the day (UTC) of a time, both in milliseconds. */
export function startOfDay(time: number): number {
  return time - (time % dayMs);
}

/** The start of the first of some days, the last of which is now, in milliseconds. Default: all days that usage is kept of. */
export function firstUsageDay(now: number, days = usageDays): number {
  return startOfDay(now) - (days - 1) * dayMs;
}

/** An estimate of the number of tokens of a text: four bytes a token. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

export const noUsage: Usage = {
  sent: { messages: 0, bytes: 0 },
  received: { messages: 0, bytes: 0 },
  stopped_loops: 0,
};
