import { createSeededRandom } from '../bench/history/vocabulary.ts';

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

/** Random choices that are the same for the same seed. */
export function seededRandom(seed: number): Random {
  const next = createSeededRandom(seed);
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
