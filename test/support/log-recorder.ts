import type { Logger } from '../../src/platform/observability/logger.ts';

export interface LogEntry {
  message: string;
  err?: unknown;
}

/** What the bus logs when its connection fails on a busy machine. The service repairs such losses. */
const busMessages = /listener|subscription|channel of the bus/;

/** A logger that keeps warnings and errors in memory, except those of the bus. */
export function createLogRecorder(): { logger: Logger; entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const ignore = () => {};
  const record = (fields: object, message: string) => {
    if (busMessages.test(message)) return;
    entries.push({ ...fields, message });
  };
  return { logger: { debug: ignore, info: ignore, warn: record, error: record, fatal: record }, entries };
}
