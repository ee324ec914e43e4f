import { pino } from 'pino';

/** The logged fields of an error: never the bytes of a request (rawPacket of Node) or the values of a row (detail of PostgreSQL). */
interface LoggedError {
  type: string;
  message: string;
  stack: string | undefined;
  code: unknown;
  cause: LoggedError | undefined;
}

const maxCauseDepth = 3;

function toLoggedError(error: unknown, depth = 0): LoggedError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return {
    type: name,
    message,
    stack,
    code,
    cause: depth < maxCauseDepth ? toLoggedError(cause, depth + 1) : undefined,
  };
}

/** The structured logger: one JSON object per line, without message content or secrets. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
}

/** Creates a logger to standard error; standard output is for results. `part` names the process. */
export function createLogger(options: { level: string; part: string }): Logger {
  const destination = pino.destination({ dest: 2, sync: true });
  const redact = [
    'authorization',
    '*.authorization',
    'password',
    '*.password',
    'token',
    '*.token',
    'content',
    '*.content',
  ];
  return pino(
    {
      level: options.level,
      base: { part: options.part, pid: process.pid },
      redact,
      serializers: { err: (error: unknown) => toLoggedError(error) },
    },
    destination,
  );
}
