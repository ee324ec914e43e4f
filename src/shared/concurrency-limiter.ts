const timeoutMs = 10_000;

export interface ConcurrencyLimiter {
  /**
   * Runs `task` when fewer than `width` tasks of this key run in this process; first come, first served, for at most 10 s. It is told
   * whether it had to wait.
   */
  run<T>(key: string, task: (waited: boolean) => Promise<T>): Promise<T>;
}

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Lets calls wait here that would otherwise wait for one another inside the database, each holding a connection there.
 * Between processes the database decides.
 * @param tired the refusal for whoever has waited too long.
 */
export function createConcurrencyLimiter(width: number, tired: () => Error): ConcurrencyLimiter {
  const lines = new Map<string, Queue>();

  function leave(key: string, line: Queue): void {
    const next = line.waiting.shift();
    if (next) next();
    else if (line.running > 1) line.running -= 1;
    else lines.delete(key);
  }

  return {
    async run(key, task) {
      const line = lines.get(key) ?? { running: 0, waiting: [] };
      lines.set(key, line);
      const waits = line.running >= width;
      if (waits) await waitForTurn(line, tired);
      else line.running += 1;
      try {
        return await task(waits);
      } finally {
        leave(key, line);
      }
    },
  };
}

/** Resolves when a place is handed over; who gives up leaves the line. */
function waitForTurn(line: Queue, tired: () => Error): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      line.waiting.splice(line.waiting.indexOf(enter), 1);
      reject(tired());
    }, timeoutMs);
    line.waiting.push(enter);
  });
}
