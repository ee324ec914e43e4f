/** Numbers from 0 up to 1, the same ones in each run (mulberry32). */
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

/** Words of two to four syllables, none twice; the first ones are the most frequent. */
function makeVocabulary(random: () => number): string[] {
  const pick = (letters: string) => letters.charAt(Math.floor(random() * letters.length));
  const words = new Set<string>();
  while (words.size < vocabularySize) {
    const syllables = 2 + Math.floor(random() * 3);
    words.add(Array.from({ length: syllables }, () => pick(consonants) + pick(vowels)).join(''));
  }
  return [...words];
}

/** Draws words as texts use them: the n-th most frequent one 1/n times as often as the first (Zipf). */
function createZipfDraw(words: readonly string[], random: () => number): () => string {
  const whole = words.reduce((total, _, index) => total + 1 / (index + 1), 0);
  const drawer = new Uint16Array(1 << 20);
  let share = 0;
  let from = 0;
  for (const index of words.keys()) {
    share += 1 / (index + 1) / whole;
    const to = Math.round(share * drawer.length);
    drawer.fill(index, from, to);
    from = to;
  }
  return () => words[drawer[Math.floor(random() * drawer.length)] ?? 0] ?? '';
}

const minWords = 15;
const maxWords = 45;

/** A text of about 30 words. */
function makeText(draw: () => string, random: () => number): string {
  const length = minWords + Math.floor(random() * (maxWords - minWords + 1));
  return Array.from({ length }, draw).join(' ');
}

/** The same texts in each run, with the words that they are made of. */
export function createTextGenerator(random = createSeededRandom(20_000)) {
  const vocabulary = makeVocabulary(random);
  const draw = createZipfDraw(vocabulary, random);
  return { vocabulary, next: () => makeText(draw, random) };
}
