/** Runs one task of each key at a time in this process. */
export interface KeyedMutex {
  /**
   * Runs the task, unless a task of this key runs already. Unlike the concurrency limiter it never waits.
   * @returns whether another call for this key was skipped meanwhile, so that the task has to run again.
   */
  run(key: string, task: () => Promise<void>): Promise<boolean>;
}

export function createKeyedMutex(): KeyedMutex {
  const running = new Map<string, { hasSkipped: boolean }>();

  return {
    async run(key, task) {
      const current = running.get(key);
      if (current) {
        current.hasSkipped = true;
        return false;
      }
      const state = { hasSkipped: false };
      running.set(key, state);
      try {
        await task();
      } finally {
        running.delete(key);
      }
      return state.hasSkipped;
    },
  };
}
