/** Where an adapter reports what went wrong with its connection. Never throws. */
export type ErrorLog = (message: string, error: unknown) => void;

/**
 * The same log, quiet during an outage: the first report of a message passes at once, then at most one in `every_ms`
 * milliseconds, which says how many were left out.
 */
export function createLimitedLog(log: ErrorLog, every_ms = 30_000): ErrorLog {
  const seen = new Map<string, { until: number; omitted: number }>();
  return (message, error) => {
    const now = Date.now();
    const last = seen.get(message);
    if (last && now < last.until) {
      last.omitted += 1;
      return;
    }
    seen.set(message, { until: now + every_ms, omitted: 0 });
    log(last?.omitted ? `${message} (and ${last.omitted} more since the last report)` : message, error);
  };
}

/** What was thrown, as one line. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
