import { withTimeout } from '../shared/timeout.ts';

/** Collects agents whose inbox items were handled, and moves their marks from time to time. */
export interface HandledMarks {
  add(agentIds: readonly string[]): void;
  /** Writes what is pending, once, and ignores further calls. A write that waits for a lock does not delay it for long. */
  close(): Promise<void>;
}

export interface HandledMarksParts {
  /** Moves the marks of these agents in one transaction. */
  write(agentIds: readonly string[]): Promise<void>;
  log(message: string, error: unknown): void;
  /** How long agents are collected before their marks move, in milliseconds; 1,000 by default. */
  batch_wait_ms?: number;
}

const closeTimeoutMs = 1_500;

/**
 * Marks that move within a second cause one event for each thread, as with deliveries. The handled items stay in the database until then, so
 * nothing is lost with the process: maintenance moves marks that are overdue.
 */
export function createHandledMarks({ write, log, batch_wait_ms = 1_000 }: HandledMarksParts): HandledMarks {
  let agents = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const due = [...agents];
    agents = new Set();
    if (due.length === 0) return writing;
    writing = writing
      .then(() => write(due))
      .catch((error: unknown) => log('cannot move handled marks; maintenance does it', error));
    return writing;
  }

  return {
    add(agentIds) {
      if (closed || agentIds.length === 0) return;
      for (const id of agentIds) agents.add(id);
      timer ??= setTimeout(() => void flush(), batch_wait_ms).unref();
    },
    close() {
      closed = true;
      return withTimeout(closeTimeoutMs, flush(), () =>
        log('cannot move handled marks in time; maintenance does it', undefined),
      );
    },
  };
}
