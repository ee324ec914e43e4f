import { steadyNow } from './clock.ts';

/** The log for errors of a connection. Never throws. */
export type ErrorLog = (message: string, error: unknown) => void;

/**
 * Limits a log during an outage: the first report of a message passes, then at most one every `intervalMs`, with the number of omitted
 * reports.
 */
export function createLimitedLog(log: ErrorLog, intervalMs = 30_000): ErrorLog {
  const seen = new Map<string, { until: number; omitted: number }>();
  return (message, error) => {
    const now = steadyNow();
    const last = seen.get(message);
    if (last && now < last.until) {
      last.omitted += 1;
      return;
    }
    seen.set(message, { until: now + intervalMs, omitted: 0 });
    log(last?.omitted ? `${message} (and ${last.omitted} more since the last report)` : message, error);
  };
}

/** The message of a thrown value. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
