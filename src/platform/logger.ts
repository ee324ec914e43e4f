import { pino } from 'pino';

/** What the service logs with: structured, one JSON object a line, never message content or secrets. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
}

/** A logger to standard error, so that standard output stays for results. `part` names the process. */
export function createLogger(options: { level: string; part: string }): Logger {
  const destination = pino.destination({ dest: 2, sync: true });
  const redact = ['authorization', '*.authorization', '*.password', '*.token', '*.content'];
  return pino({ level: options.level, base: { part: options.part, pid: process.pid }, redact }, destination);
}
