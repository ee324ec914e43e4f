/** Numbers from 0 to below 1, the same in each run (mulberry32). */
export function createSeededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const consonants = 'bdfghklmnprstvwz';
const vowels = 'aeiou';
const vocabularySize = 20_000;

/** Distinct words of two to four syllables, the most frequent first. */
function makeVocabulary(random: () => number): string[] {
  const pick = (letters: string) => letters.charAt(Math.floor(random() * letters.length));
  const words = new Set<string>();
  while (words.size < vocabularySize) {
    const syllables = 2 + Math.floor(random() * 3);
    words.add(Array.from({ length: syllables }, () => pick(consonants) + pick(vowels)).join(''));
  }
  return [...words];
}

/** Draws words by their frequency in texts: the n-th word is 1/n times as frequent as the first (Zipf's law). */
function createZipfDraw(words: readonly string[], random: () => number): () => string {
  const total = words.reduce((sum, _, index) => sum + 1 / (index + 1), 0);
  const table = new Uint16Array(1 << 20);
  let share = 0;
  let from = 0;
  for (const index of words.keys()) {
    share += 1 / (index + 1) / total;
    const to = Math.round(share * table.length);
    table.fill(index, from, to);
    from = to;
  }
  return () => words[table[Math.floor(random() * table.length)] ?? 0] ?? '';
}

const minWords = 15;
const maxWords = 45;

/** A text of about 30 words. */
function makeText(draw: () => string, random: () => number): string {
  const length = minWords + Math.floor(random() * (maxWords - minWords + 1));
  return Array.from({ length }, draw).join(' ');
}

/** Generates the same texts in each run; `vocabulary` has all their words. */
export function createTextGenerator(random = createSeededRandom(20_000)) {
  const vocabulary = makeVocabulary(random);
  const draw = createZipfDraw(vocabulary, random);
  return { vocabulary, next: () => makeText(draw, random) };
}
