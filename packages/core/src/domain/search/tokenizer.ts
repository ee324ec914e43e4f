/** Splits text into words. Messages and queries use the same tokenizer. PostgreSQL stores and matches the words; it never sees the text. */

/** Increases with every change of the words of a text: search rows with a lower version are stale. */
export const searchTextVersion = 2;

/**
 * `pair`: of a script without spaces, two adjacent characters, or the last character alone. `hangul`: a Korean word, which can end with
 * particles. `part`: a part of the word before it, as Case in camelCase. `emoji`: an emoji, which separates no words.
 */
type WordKind = 'word' | 'pair' | 'hangul' | 'part' | 'emoji';

export interface Word {
  kind: WordKind;
  /** Folded: no accents, no case. */
  text: string;
  /** Its number in the text, from 1. A part and an emoji have that of the word before. */
  position: number;
  /** Its range in the original text, in UTF-16 code units. */
  start: number;
  end: number;
  /** The end of its first character; equal to `end` for words that are no pairs. */
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
const character = String.raw`[\p{L}\p{N}\p{M}]`;
/** An underscore divides as a hyphen does: my_function_name is three adjacent words. */
const run = String.raw`${character}(?:[\p{L}\p{N}\p{M}${invisible}]*${character})?`;
const runPattern = new RegExp(run, 'gu');
/** A pictogram with those that are joined to it, or the two letters of a flag. Not ©, ® and ™. */
const emoji = String.raw`\p{RI}{2}|(?![©®™])\p{ExtPict}(?:[\ufe0e\ufe0f]|\p{EMod}|\u200d(?=\p{ExtPict})\p{ExtPict})*`;
const wordPattern = new RegExp(`(?<run>${run})|${emoji}`, 'gu');
const skinTone = /\p{EMod}/gu;
const unspacedPattern = new RegExp(`[${unspacedScripts}]`, 'u');
const hangulPattern = /\p{sc=Hang}/u;
/** One character of a script without spaces with its marks (ﾞ and ﾟ count as marks), a run of Hangul, or one of anything else. */
const segmentPattern = new RegExp(
  [
    String.raw`[${unspacedScripts}][\p{M}\uff9e\uff9f${invisible}]*`,
    String.raw`(?:\p{sc=Hang}[\p{M}${invisible}]*)+`,
    String.raw`(?:(?![${unspacedScripts}\p{sc=Hang}])[^])+`,
  ].join('|'),
  'gu',
);
/** Between a small and a capital letter, and before the last capital of several: get|HTTP|Response. */
const partBoundary = /(?=\p{Lu})(?<=\p{Ll}\p{M}*)|(?=\p{Lu}\p{M}*\p{Ll})(?<=\p{Lu}\p{M}*)/gu;
/** Longer words, and those with more parts, are keys and encoded data. */
const maxDividedLength = 64;
const maxParts = 6;

/** Every word of a text, in order. */
export function tokenize(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: found, index, groups } of text.matchAll(wordPattern)) {
    if (groups?.['run'] === undefined) addEmoji(words, found, index);
    else if (unspacedPattern.test(found) || hangulPattern.test(found)) addSegments(words, found, index);
    else addWord(words, found, index);
  }
  return words;
}

function addWord(words: Word[], found: string, start: number, kind: WordKind = 'word'): void {
  const text = truncate(fold(found), maxWordLength);
  const end = start + found.length;
  if (text === '') return;
  const position = nextPosition(words) - (kind === 'part' ? 1 : 0);
  words.push({ kind, text, position, start, end, firstCharEnd: end, isLast: true });
  // Without capital letters there are no parts.
  if (kind === 'word' && text !== found) addParts(words, found, start);
}

const nextPosition = (words: readonly Word[]): number => (words.at(-1)?.position ?? 0) + 1;

/** An emoji is at the position of the word before it: words on both sides of it stay adjacent. */
function addEmoji(words: Word[], found: string, start: number): void {
  const text = truncate(fold(found.replace(skinTone, '')), maxWordLength);
  const end = start + found.length;
  const position = Math.max(1, nextPosition(words) - 1);
  if (text !== '') words.push({ kind: 'emoji', text, position, start, end, firstCharEnd: end, isLast: true });
}

/** The parts of an identifier, if it has several. A part of one character belongs to the next one: iPhone has no parts. */
function addParts(words: Word[], found: string, start: number): void {
  if (found.length > maxDividedLength) return;
  const starts = [0];
  for (const { index } of found.matchAll(partBoundary)) {
    if (index - (starts.at(-1) ?? 0) > 1) starts.push(index);
  }
  if (starts.length < 2 || starts.length > maxParts) return;
  for (const [number, from] of starts.entries())
    addWord(words, found.slice(from, starts[number + 1]), start + from, 'part');
}

interface Character {
  text: string;
  start: number;
  end: number;
}

/** A run of several scripts: characters of a script without spaces as overlapping pairs, anything else as words. */
function addSegments(words: Word[], found: string, offset: number): void {
  let pending: Character[] = [];
  for (const { 0: segment, index } of found.matchAll(segmentPattern)) {
    const start = offset + index;
    if (unspacedPattern.test(segment)) {
      const text = truncate(fold(segment), maxWordLength);
      if (text !== '') pending.push({ text, start, end: start + segment.length });
      continue;
    }
    addPairs(words, pending);
    pending = [];
    const kind = hangulPattern.test(segment) ? 'hangul' : 'word';
    // Its ends were inside the run before.
    for (const { 0: part, index: at } of segment.matchAll(runPattern)) addWord(words, part, start + at, kind);
  }
  addPairs(words, pending);
}

/** The last character is a word by itself, so that every character begins a word. */
function addPairs(words: Word[], characters: readonly Character[]): void {
  const first = nextPosition(words);
  for (const [index, { text, start, end }] of characters.entries()) {
    const next = characters[index + 1];
    // An object literal: a spread is ten times slower, and a long message has 10,000 pairs.
    words.push({
      kind: 'pair',
      text: text + (next?.text ?? ''),
      position: first + index,
      start,
      end: next?.end ?? end,
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
  for (const word of tokenize(text)) {
    const at = positions.get(word.text) ?? [];
    if (at.length < maxPositions) at.push(Math.min(word.position, maxPosition));
    positions.set(word.text, at);
  }
  return Array.from(positions, ([word, at]) => `${quoteWord(word)}:${at.join()}`).join(' ');
}

/** Quotes a word for `tsvector` and `tsquery`. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
