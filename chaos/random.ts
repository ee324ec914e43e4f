export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** @throws when the list is empty. */
  pick<T>(all: readonly T[]): T;
  /** This many different items, in random order. */
  sample<T>(all: readonly T[], count: number): T[];
}

/** Random numbers that are the same for the same seed (Marsaglia's 32-bit xorshift). */
export function seededRandom(seed: number): Random {
  // Spreads neighboring seeds. The state must not be 0, which would stay 0.
  let state = Math.imul(seed ^ 0x9e_37_79_b9, 0x85_eb_ca_6b) | 1;

  function next(): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  }
  function below(limit: number): number {
    return Math.floor(next() * limit);
  }
  function sample<T>(all: readonly T[], count: number): T[] {
    const left = [...all];
    const chosen: T[] = [];
    while (chosen.length < count && left.length > 0) chosen.push(...left.splice(below(left.length), 1));
    return chosen;
  }
  return {
    below,
    chance: (probability) => next() < probability,
    pick(all) {
      const [one] = sample(all, 1);
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    },
    sample,
  };
}
