/**
 * How text becomes words, for messages and for queries alike: one tokenizer on both sides, so that what is written is found.
 * PostgreSQL stores and matches the words; it never sees the text.
 */

/** Goes up with every change of what a text's words are: search rows of a lower version are stale. */
export const searchTextVersion = 1;

export interface Word {
  /** Folded: without accents and case. */
  text: string;
  /** Where it stands in the original text, in UTF-16 units. */
  start: number;
  end: number;
  /** Of a run without spaces: this word is a pair of neighbouring characters, or the run's last one alone. */
  dense: boolean;
  /** Where its first character ends; of a word that is not dense, the same as `end`. */
  head_end: number;
  /** Whether it is the last of an unbroken run. */
  last: boolean;
}

/** Longer words are cut, in the index and in queries alike; in UTF-16 units. */
const longestWord = 100;
/** Longer words are cut before they are folded too: Unicode orders a run of marks in the square of its length. */
const longestUnfolded = 1_000;

/** Scripts that are written without spaces between words. Extensions: the sound mark ー belongs to two scripts. */
const dense = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}`;
/** What stands inside words without being seen: soft hyphen, and the joiners of Indic and Arabic scripts. */
const invisible = String.raw`\u00ad\u200c\u200d`;
/** Underscores hold a word together and are no part of its ends: _this_ is emphasis. */
const runs = new RegExp(
  String.raw`[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}_${invisible}]*[\p{L}\p{N}\p{M}])?`,
  'gu',
);
const anyDense = new RegExp(`[${dense}]`, 'u');
/** One character of such a script with its marks (ﾞ and ﾟ are marks by another name), or a stretch of anything else. */
const stretches = new RegExp(
  String.raw`[${dense}][\p{M}\uff9e\uff9f${invisible}]*|(?:(?![${dense}])[^])+`,
  'gu',
);

/** Every word of a text, in order. The number of a word is its position in the index. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: run, index } of text.matchAll(runs)) {
    if (anyDense.test(run)) addRun(words, run, index);
    else addWord(words, run, index);
  }
  return words;
}

function addWord(words: Word[], run: string, start: number): void {
  const text = cut(fold(run), longestWord);
  const end = start + run.length;
  if (text !== '') words.push({ text, start, end, dense: false, head_end: end, last: true });
}

interface Character {
  text: string;
  start: number;
  end: number;
}

/** A run in which a script without spaces occurs: that script as overlapping pairs, anything else as words. */
function addRun(words: Word[], run: string, offset: number): void {
  let pending: Character[] = [];
  for (const { 0: stretch, index } of run.matchAll(stretches)) {
    const start = offset + index;
    if (anyDense.test(stretch)) {
      const text = cut(fold(stretch), longestWord);
      if (text !== '') pending.push({ text, start, end: start + stretch.length });
      continue;
    }
    addPairs(words, pending);
    pending = [];
    // Its ends were inside the run until now.
    for (const { 0: part, index: at } of stretch.matchAll(runs)) addWord(words, part, start + at);
  }
  addPairs(words, pending);
}

/** The last character stands alone at the end, so that every character begins a word. */
function addPairs(words: Word[], characters: readonly Character[]): void {
  for (const [index, { text, start, end }] of characters.entries()) {
    const next = characters[index + 1];
    // A literal: a spread takes ten times as long, and a long message has 10,000 pairs.
    words.push({
      text: text + (next?.text ?? ''),
      start,
      end: next?.end ?? end,
      dense: true,
      head_end: end,
      last: next === undefined,
    });
  }
}

/** Accents of Latin, Greek and Cyrillic; points of Hebrew; vowel signs and stretching of Arabic; variation selectors. */
const dropped = new RegExp(
  [
    String.raw`[\u0300-\u036f]`,
    String.raw`[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]`,
    String.raw`[\u0610-\u061a\u0640\u064b-\u065f\u0670]`,
    String.raw`[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]`,
    `[${invisible}]`,
  ].join('|'),
  'gu',
);
/** Letters that Unicode takes for letters of their own and people for variants; final sigma, so that prefixes fold alike. */
const variants: Record<string, string> = {
  æ: 'ae',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
  ŧ: 't',
  ς: 'σ',
};
const variant = new RegExp(`[${Object.keys(variants).join('')}]`, 'gu');
// oxlint-disable-next-line no-control-regex
const ascii = /^[\0-\x7f]*$/;
/** Characters that folding leaves as they are: only to be quick with much of Chinese and Japanese. */
const settled = /^[\u3041-\u3096\u30a1-\u30fc\u4e00-\u9fff]$/;

/**
 * A word without accents, case and variants of form (Unicode NFKD and NFKC, UAX 15). Upper case comes before lower case, as a
 * stand-in for full case folding: ß, SS and ss are one.
 */
export function fold(word: string): string {
  if (ascii.test(word)) return word.toLowerCase();
  if (settled.test(word)) return word;
  const bare = cut(word, longestUnfolded).normalize('NFKD').replaceAll(dropped, '').normalize('NFKC');
  const small = bare.toUpperCase().toLowerCase();
  return small.replaceAll(variant, (letter) => variants[letter] ?? letter);
}

/** At most `longest` units, and no half of a surrogate pair. */
function cut(word: string, longest: number): string {
  if (word.length <= longest) return word;
  const half = word.charCodeAt(longest - 1);
  return word.slice(0, half >= 0xd800 && half <= 0xdbff ? longest - 1 : longest);
}

/** What PostgreSQL can tell apart: later positions are one, and a word has no more of them. */
const lastPosition = 16_383;
const mostPositions = 255;

/** The words of a text with their positions, as the text form of a PostgreSQL `tsvector`. */
export function vectorText(text: string): string {
  const positions = new Map<string, number[]>();
  for (const [index, word] of wordsOf(text).entries()) {
    const at = positions.get(word.text) ?? [];
    if (at.length < mostPositions) at.push(Math.min(index + 1, lastPosition));
    positions.set(word.text, at);
  }
  return Array.from(positions, ([word, at]) => `${quoted(word)}:${at.join()}`).join(' ');
}

/** A word as `tsvector` and `tsquery` read it, whatever it holds. */
export function quoted(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
