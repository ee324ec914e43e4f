const patience = 10_000;

export interface Turnstile {
  /**
   * Runs `task` when fewer than `width` tasks of this key run in this process; first come, first served, for at most 10 s. It is told
   * whether it had to wait.
   */
  pass<T>(key: string, task: (waited: boolean) => Promise<T>): Promise<T>;
}

interface Line {
  inside: number;
  waiting: (() => void)[];
}

/**
 * Lets calls wait here that would otherwise wait for one another inside the database, each holding a connection there.
 * Between processes the database decides.
 * @param tired the refusal for whoever has waited too long.
 */
export function createTurnstile(width: number, tired: () => Error): Turnstile {
  const lines = new Map<string, Line>();

  function leave(key: string, line: Line): void {
    const next = line.waiting.shift();
    if (next) next();
    else if (line.inside > 1) line.inside -= 1;
    else lines.delete(key);
  }

  return {
    async pass(key, task) {
      const line = lines.get(key) ?? { inside: 0, waiting: [] };
      lines.set(key, line);
      const waits = line.inside >= width;
      if (waits) await turn(line, tired);
      else line.inside += 1;
      try {
        return await task(waits);
      } finally {
        leave(key, line);
      }
    },
  };
}

/** Resolves when a place is handed over; who gives up leaves the line. */
function turn(line: Line, tired: () => Error): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      line.waiting.splice(line.waiting.indexOf(enter), 1);
      reject(tired());
    }, patience);
    line.waiting.push(enter);
  });
}
