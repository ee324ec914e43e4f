import { DomainError } from '../domain/errors.ts';

const patience = 10_000;

export interface Turnstile {
  /** Runs `task` when no other task of this key runs in this process; waits for its turn for at most 10 s. */
  pass<T>(key: string, task: () => Promise<T>): Promise<T>;
}

/**
 * Requests with the same idempotency key pass one after the other, so that a hundred copies of one request hold one database
 * connection and not a hundred. Between processes the database decides.
 */
export function createTurnstile(): Turnstile {
  const last = new Map<string, Promise<unknown>>();

  return {
    async pass(key, task) {
      const before = last.get(key);
      const turn = before ? patiently(before).then(task) : task();
      const settled = turn.catch(onlyTheCallerCares);
      last.set(key, settled);
      try {
        return await turn;
      } finally {
        if (last.get(key) === settled) last.delete(key);
      }
    },
  };
}

async function patiently(before: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new DomainError('IDEMPOTENCY_IN_PROGRESS', 'The first request with this key still runs.', {
          retry_after: 1,
        }),
      );
    }, patience);
  });
  try {
    await Promise.race([before, tired]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whoever waits in line cares for the turn, not for how the one before it went. */
function onlyTheCallerCares(): void {}
