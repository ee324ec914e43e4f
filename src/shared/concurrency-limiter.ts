export interface ConcurrencyLimiterOptions {
  /** Tasks of one key that run at the same time. */
  maxConcurrent: number;
  /** Tasks of one key that can wait. A task beyond them is rejected at once. Default: no limit. */
  maxWaiting?: number;
  /** How long a task waits before it is rejected. Default: no limit. */
  timeoutMs?: number;
  /** The error for a rejected task. */
  createError: () => Error;
}

export interface ConcurrencyLimiter {
  /**
   * Runs `task` when fewer than `maxConcurrent` tasks of this key run in this process; first come, first served. The task gets whether it
   * had to wait.
   */
  run<T>(key: string, task: (hasWaited: boolean) => Promise<T>): Promise<T>;
}

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/** A semaphore for each key, in this process only. p-limit and async-sema have no keys, no timeout or no limit for waiting tasks. */
export function createConcurrencyLimiter(options: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const { maxConcurrent, maxWaiting = Number.POSITIVE_INFINITY } = options;
  const queues = new Map<string, Queue>();

  function release(key: string, queue: Queue): void {
    const startNext = queue.waiting.shift();
    if (startNext) startNext();
    else if (queue.running > 1) queue.running -= 1;
    else queues.delete(key);
  }

  return {
    async run(key, task) {
      const queue = queues.get(key) ?? { running: 0, waiting: [] };
      queues.set(key, queue);
      const mustWait = queue.running >= maxConcurrent;
      if (!mustWait) queue.running += 1;
      else if (queue.waiting.length < maxWaiting) await waitForTurn(queue, options);
      else throw options.createError();
      try {
        return await task(mustWait);
      } finally {
        release(key, queue);
      }
    },
  };
}

function waitForTurn(
  { waiting }: Queue,
  { timeoutMs, createError }: Pick<ConcurrencyLimiterOptions, 'timeoutMs' | 'createError'>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = () => {
      clearTimeout(timer);
      resolve();
    };
    const giveUp = () => {
      waiting.splice(waiting.indexOf(start), 1);
      reject(createError());
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
    waiting.push(start);
  });
}
