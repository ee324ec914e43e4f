import {
  AgentMessagingError,
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  UnavailableError,
} from '../node/main.ts';

/** The exit codes of `am`, which docs/command-line.md lists. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  signIn: 3,
  refused: 4,
  notFound: 5,
  unavailable: 6,
  noAnswer: 7,
  interrupted: 130,
} as const;

/** An error of the command line itself. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The exit code for anything thrown. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof AuthenticationError) return exitCodes.signIn;
  if (error instanceof NotFoundError) return exitCodes.notFound;
  const isTemporary =
    error instanceof ConnectionError || error instanceof RateLimitError || error instanceof UnavailableError;
  if (isTemporary) return exitCodes.unavailable;
  return error instanceof AgentMessagingError ? exitCodes.refused : exitCodes.failed;
}
