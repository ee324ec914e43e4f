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
  isUnspaced: boolean;
  /** Where its first character ends; of a word that is not dense, the same as `end`. */
  firstCharEnd: number;
  /** Whether it is the last of an unbroken run. */
  isLast: boolean;
}

/** Longer words are cut, in the index and in queries alike; in UTF-16 units. */
const maxWordLength = 100;
/** Longer words are cut before they are folded too: Unicode orders a run of marks in the square of its length. */
const maxUnfoldedLength = 1_000;

/** Scripts that are written without spaces between words. Extensions: the sound mark ー belongs to two scripts. */
const unspacedScripts = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}`;
/** What stands inside words without being seen: soft hyphen, and the joiners of Indic and Arabic scripts. */
const invisible = String.raw`\u00ad\u200c\u200d`;
/** Underscores hold a word together and are no part of its ends: _this_ is emphasis. */
const wordPattern = new RegExp(
  String.raw`[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}_${invisible}]*[\p{L}\p{N}\p{M}])?`,
  'gu',
);
const unspacedPattern = new RegExp(`[${unspacedScripts}]`, 'u');
/** One character of such a script with its marks (ﾞ and ﾟ are marks by another name), or a stretch of anything else. */
const segmentPattern = new RegExp(
  String.raw`[${unspacedScripts}][\p{M}\uff9e\uff9f${invisible}]*|(?:(?![${unspacedScripts}])[^])+`,
  'gu',
);

/** Every word of a text, in order. The number of a word is its position in the index. */
export function tokenize(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: run, index } of text.matchAll(wordPattern)) {
    if (unspacedPattern.test(run)) addRun(words, run, index);
    else addWord(words, run, index);
  }
  return words;
}

function addWord(words: Word[], run: string, start: number): void {
  const text = truncate(fold(run), maxWordLength);
  const end = start + run.length;
  if (text !== '') words.push({ text, start, end, isUnspaced: false, firstCharEnd: end, isLast: true });
}

interface Character {
  text: string;
  start: number;
  end: number;
}

/** A run in which a script without spaces occurs: that script as overlapping pairs, anything else as words. */
function addRun(words: Word[], run: string, offset: number): void {
  let pending: Character[] = [];
  for (const { 0: stretch, index } of run.matchAll(segmentPattern)) {
    const start = offset + index;
    if (unspacedPattern.test(stretch)) {
      const text = truncate(fold(stretch), maxWordLength);
      if (text !== '') pending.push({ text, start, end: start + stretch.length });
      continue;
    }
    addPairs(words, pending);
    pending = [];
    // Its ends were inside the run until now.
    for (const { 0: part, index: at } of stretch.matchAll(wordPattern)) addWord(words, part, start + at);
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
      isUnspaced: true,
      firstCharEnd: end,
      isLast: next === undefined,
    });
  }
}

/** Accents of Latin, Greek and Cyrillic; points of Hebrew; vowel signs and stretching of Arabic; variation selectors. */
const droppedMarks = new RegExp(
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
const unchangedByFolding = /^[\u3041-\u3096\u30a1-\u30fc\u4e00-\u9fff]$/;

/**
 * A word without accents, case and variants of form (Unicode NFKD and NFKC, UAX 15). Upper case comes before lower case, as a
 * stand-in for full case folding: ß, SS and ss are one.
 */
export function fold(word: string): string {
  if (ascii.test(word)) return word.toLowerCase();
  if (unchangedByFolding.test(word)) return word;
  const bare = truncate(word, maxUnfoldedLength)
    .normalize('NFKD')
    .replaceAll(droppedMarks, '')
    .normalize('NFKC');
  const small = bare.toUpperCase().toLowerCase();
  return small.replaceAll(variant, (letter) => variants[letter] ?? letter);
}

/** At most `maxLength` units, and no half of a surrogate pair. */
function truncate(word: string, maxLength: number): string {
  if (word.length <= maxLength) return word;
  const half = word.charCodeAt(maxLength - 1);
  return word.slice(0, half >= 0xd800 && half <= 0xdbff ? maxLength - 1 : maxLength);
}

/** What PostgreSQL can tell apart: later positions are one, and a word has no more of them. */
const maxPosition = 16_383;
const maxPositions = 255;

/** The words of a text with their positions, as the text form of a PostgreSQL `tsvector`. */
export function toTsVector(text: string): string {
  const positions = new Map<string, number[]>();
  for (const [index, word] of tokenize(text).entries()) {
    const at = positions.get(word.text) ?? [];
    if (at.length < maxPositions) at.push(Math.min(index + 1, maxPosition));
    positions.set(word.text, at);
  }
  return Array.from(positions, ([word, at]) => `${quoteWord(word)}:${at.join()}`).join(' ');
}

/** A word as `tsvector` and `tsquery` read it, whatever it holds. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
