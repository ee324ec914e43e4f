/** Things that are done by one at a time in this process, each under a name. */
export interface KeyedMutex {
  /**
   * Does it, unless it is being done.
   * @returns whether somebody else asked for it meanwhile, and was sent away: then it wants to be done once more.
   */
  run(name: string, run: () => Promise<void>): Promise<boolean>;
}

export function createKeyedMutex(): KeyedMutex {
  /** What is being done, and whether it was asked for meanwhile. */
  const underWay = new Map<string, { asked: boolean }>();

  return {
    async run(name, run) {
      const others = underWay.get(name);
      if (others) {
        others.asked = true;
        return false;
      }
      const mine = { asked: false };
      underWay.set(name, mine);
      try {
        await run();
      } finally {
        underWay.delete(name);
      }
      return mine.asked;
    },
  };
}
