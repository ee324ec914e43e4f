import type { Counts } from './counts.ts';

/** What an adapter is created from. */
export interface HarnessOptions {
  env: Record<string, string | undefined>;
  /** The session of the harness to wake; without one, its latest. */
  session?: string;
  /** The folder of the session. */
  cwd?: string;
  /** The address of a harness that has a server. */
  harnessUrl?: string;
  /** The program of `command`, for the shell. */
  exec?: string;
  log(text: string): void;
}

export interface Wake {
  counts: Counts;
  /** What the agent reads. */
  text: string;
  signal: AbortSignal;
}

/**
 * A way into a coding agent. An adapter is a small module that exports a function from options to this interface.
 *
 * `wake` starts one turn with the text and resolves when the turn has ended. It rejects when the turn could not be started; the messages
 * then stay unread, and the next event tries again.
 */
export interface Harness {
  name: string;
  wake(wake: Wake): Promise<void>;
}
