/** Splits text into words. Messages and queries use the same tokenizer. PostgreSQL stores and matches the words; it never sees the text. */

/** Increases with every change of the words of a text: search rows with a lower version are stale. */
export const searchTextVersion = 1;

export interface Word {
  /** Folded: no accents, no case. */
  text: string;
  /** Its range in the original text, in UTF-16 code units. */
  start: number;
  end: number;
  /** In a run without spaces: this word is a pair of adjacent characters, or the last character alone. */
  isUnspaced: boolean;
  /** The end of its first character; equal to `end` for other words. */
  firstCharEnd: number;
  /** Whether it is the last word of an unbroken run. */
  isLast: boolean;
}

/** Longer words are truncated, in the index and in queries, in UTF-16 code units. */
const maxWordLength = 100;
/** Longer words are truncated before folding too: Unicode normalization of a run of marks takes quadratic time. */
const maxUnfoldedLength = 1_000;

/** Scripts without spaces between words. Script extensions: the sound mark ー belongs to two scripts. */
const unspacedScripts = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}`;
/** Invisible characters inside words: soft hyphen, and the joiners of Indic and Arabic scripts. */
const invisible = String.raw`\u00ad\u200c\u200d`;
/** Underscores join a word but do not begin or end it: _this_ is emphasis. */
const wordPattern = new RegExp(
  String.raw`[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}_${invisible}]*[\p{L}\p{N}\p{M}])?`,
  'gu',
);
const unspacedPattern = new RegExp(`[${unspacedScripts}]`, 'u');
/** One character of such a script with its marks (ﾞ and ﾟ count as marks), or a run of anything else. */
const segmentPattern = new RegExp(
  String.raw`[${unspacedScripts}][\p{M}\uff9e\uff9f${invisible}]*|(?:(?![${unspacedScripts}])[^])+`,
  'gu',
);

/** Every word of a text, in order. The index of a word is its position in the search row. */
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

/** A run with characters of a script without spaces: those as overlapping pairs, anything else as words. */
function addRun(words: Word[], run: string, offset: number): void {
  let pending: Character[] = [];
  for (const { 0: segment, index } of run.matchAll(segmentPattern)) {
    const start = offset + index;
    if (unspacedPattern.test(segment)) {
      const text = truncate(fold(segment), maxWordLength);
      if (text !== '') pending.push({ text, start, end: start + segment.length });
      continue;
    }
    addPairs(words, pending);
    pending = [];
    // Its ends were inside the run before.
    for (const { 0: part, index: at } of segment.matchAll(wordPattern)) addWord(words, part, start + at);
  }
  addPairs(words, pending);
}

/** The last character is a word by itself, so that every character begins a word. */
function addPairs(words: Word[], characters: readonly Character[]): void {
  for (const [index, { text, start, end }] of characters.entries()) {
    const next = characters[index + 1];
    // An object literal: a spread is ten times slower, and a long message has 10,000 pairs.
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
/** Letters that Unicode treats as distinct and people as variants; final sigma, so that prefixes fold alike. */
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
/** Characters that folding does not change: a fast path for much of Chinese and Japanese. */
const unchangedByFolding = /^[\u3041-\u3096\u30a1-\u30fc\u4e00-\u9fff]$/;

/**
 * Folds a word: no accents, case or variants of form (Unicode NFKD and NFKC, UAX 15). Upper case before lower case approximates full case
 * folding: ß, SS and ss are equal.
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

/** Truncates to `maxLength` code units without splitting a surrogate pair. */
function truncate(word: string, maxLength: number): string {
  if (word.length <= maxLength) return word;
  const half = word.charCodeAt(maxLength - 1);
  return word.slice(0, half >= 0xd800 && half <= 0xdbff ? maxLength - 1 : maxLength);
}

/** Limits of PostgreSQL: later positions are equal, and a word has no more positions. */
const maxPosition = 16_383;
const maxPositions = 255;

/** The words of a text with their positions, as a PostgreSQL `tsvector`. */
export function toTsVector(text: string): string {
  const positions = new Map<string, number[]>();
  for (const [index, word] of tokenize(text).entries()) {
    const at = positions.get(word.text) ?? [];
    if (at.length < maxPositions) at.push(Math.min(index + 1, maxPosition));
    positions.set(word.text, at);
  }
  return Array.from(positions, ([word, at]) => `${quoteWord(word)}:${at.join()}`).join(' ');
}

/** Quotes a word for `tsvector` and `tsquery`. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
