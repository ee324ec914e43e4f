import { wrongField } from '../errors.ts';
import { quoteWord, type Word, tokenize } from './tokenizer.ts';

/** One word to look for. */
export interface QueryWord {
  text: string;
  /** Whether words that begin with it match too. */
  isPrefix: boolean;
  kind: Word['kind'];
  /** The parts of an identifier, which may also occur in a longer one; empty for other words. */
  parts: string[];
}

/** Words that have to be adjacent, or that must not occur. */
export interface SearchTerm {
  words: QueryWord[];
  isExcluded: boolean;
}

export const maxQueryLength = 200;
const maxTerms = 20;
/** Each prefix makes the database collect every word that begins with it. */
const maxPrefixes = 5;

/** A minus directly before a term; a phrase, whose closing quote can be missing; or anything up to a space or a quote. */
const termPattern = /(?<minus>-)?(?:["“”„＂](?<phrase>[^"“”„＂]*)["“”„＂]?|(?<bare>[^\s"“”„＂]+))/gu;

/**
 * Parses a query: all words have to occur; "words in quotes" have to be adjacent; -word and -"a phrase" must not occur; word* matches every
 * word that begins so, and so does a Korean word, which can have particles at its end. Words that are separated only by punctuation, as in
 * re-index, have to be adjacent too. An emoji can be anywhere.
 * @throws {DomainError} VALIDATION_ERROR for `field` when there is nothing to find, more than 20 terms, or more than 5 prefixes.
 */
export function parseSearch(query: string, field: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  for (const { groups = {} } of query.matchAll(termPattern)) {
    const words = toQueryWords(groups['phrase'] ?? groups['bare'] ?? '');
    const isExcluded = groups['minus'] !== undefined;
    const adjacent = words.filter(({ kind }) => kind !== 'emoji');
    const emoji = words.filter(({ kind }) => kind === 'emoji').map((word) => [word]);
    for (const part of [adjacent, ...emoji]) if (part.length > 0) terms.push({ words: part, isExcluded });
  }
  if (terms.length > maxTerms) throw wrongField(field, `must have at most ${maxTerms} terms`);
  const prefixes = terms.flatMap(({ words }) =>
    words.filter(({ isPrefix, kind }) => isPrefix && kind === 'word'),
  );
  if (prefixes.length > maxPrefixes) throw wrongField(field, `must have at most ${maxPrefixes} words with *`);
  if (terms.every((term) => term.isExcluded)) throw wrongField(field, 'must name at least one word to find');
  return terms;
}

function toQueryWords(text: string): QueryWord[] {
  const tokens = tokenize(text);
  const words = tokens.filter(({ kind }) => kind !== 'part');
  return words.flatMap((word, index) => {
    const { kind, position } = word;
    const isPair = kind === 'pair';
    const final = index === words.length - 1;
    const before = words[index - 1];
    // The end of the query is not the end of the run in the message: only a single character matches by itself.
    if (final && isPair && word.isLast && before?.kind === 'pair' && !before.isLast) return [];
    const isPrefix = isPair ? final && word.isLast : kind === 'hangul' || text[word.end] === '*';
    const parts = tokens.filter((token) => token.kind === 'part' && token.position === position);
    return [{ text: word.text, isPrefix, kind, parts: isPrefix ? [] : parts.map((part) => part.text) }];
  });
}

/** The terms as the text form of a PostgreSQL `tsquery`. */
export function toTsQuery(terms: readonly SearchTerm[]): string {
  return terms
    .map(({ words, isExcluded }) => `${isExcluded ? '!' : ''}(${join(words, '<->', '<0>')})`)
    .join('&');
}

/**
 * The words of a query in any order, as a `tsquery` that an index of words answers without reading the messages. Matches all messages
 * of the query, and possibly more.
 */
export function toWordsQuery(terms: readonly SearchTerm[]): string {
  return terms
    .filter(({ words, isExcluded }) => !isExcluded || (words.length === 1 && words[0]?.parts.length === 0))
    .map(({ words, isExcluded }) => `${isExcluded ? '!' : ''}(${join(words, '&', '&')})`)
    .join('&');
}

/** @param withPart connects the parts of an identifier: `<0>` means the same position. */
function join(words: readonly QueryWord[], operator: '<->' | '&', withPart: '<0>' | '&'): string {
  const operands = words.map(({ text, isPrefix, parts }) => {
    if (parts.length === 0) return `${quoteWord(text)}${isPrefix ? ':*' : ''}`;
    const identifier = `${quoteWord(text)}|${parts.map(quoteWord).join(withPart)}`;
    return words.length === 1 ? identifier : `(${identifier})`;
  });
  return operands.join(operator);
}

export interface TextRange {
  start: number;
  end: number;
}

/** More matches of a term do not help a reader, and cost time. */
const maxHits = 500;

/** The positions of a term's words in a tokenized text: the first 500, in order. */
export function findHits({ words: queryWords }: SearchTerm, words: readonly Word[]): TextRange[] {
  const hits: TextRange[] = [];
  for (let first = 0; first < words.length && hits.length < maxHits; first += 1) {
    const ranges = matchAt(first, queryWords, words);
    if (ranges === noRanges) continue;
    for (const hit of ranges) {
      // When a phrase overlaps itself, this word is marked already.
      if (hit.start > (hits.at(-1)?.start ?? -1)) hits.push(hit);
    }
  }
  return hits;
}

const noRanges: TextRange[] = [];

/** The ranges of adjacent words that match, from this word on. Each of 100 query words is compared with each of 16,000 words. */
function matchAt(first: number, queryWords: readonly QueryWord[], words: readonly Word[]): TextRange[] {
  let ranges = noRanges;
  let at = first;
  let position = words[first]?.position ?? 0;
  for (const queryWord of queryWords) {
    let range = matchWord(queryWord, words, at);
    while (!range && at > first && words[at + 1]?.position === position) {
      at += 1;
      range = matchWord(queryWord, words, at);
    }
    if (!range) return noRanges;
    if (ranges === noRanges) ranges = [];
    ranges.push(range);
    position += 1;
    at = skipTo(position, words, at);
    if (at < 0) return ranges.length === queryWords.length ? ranges : noRanges;
  }
  return ranges;
}

/** The index of the first word at this position; -1 if there is none. */
function skipTo(position: number, words: readonly Word[], from: number): number {
  let at = from;
  while (at < words.length && (words[at]?.position ?? 0) < position) at += 1;
  return words[at]?.position === position ? at : -1;
}

/** A single character of a script without spaces matches the start of a pair; only that character is the match. */
function matchWord(query: QueryWord, words: readonly Word[], at: number): TextRange | undefined {
  const word = words[at];
  if (word === undefined) return undefined;
  const { text, isPrefix, kind, parts } = query;
  if (isPrefix ? word.text.startsWith(text) : word.text === text) {
    return { start: word.start, end: isPrefix && kind === 'pair' ? word.firstCharEnd : word.end };
  }
  return parts.length > 0 && word.text === parts[0] ? matchParts(parts, words, at) : undefined;
}

/** The range of these parts of one identifier. */
function matchParts(parts: readonly string[], words: readonly Word[], at: number): TextRange | undefined {
  const found = parts.map((text, index) => ({ text, word: words[at + index] }));
  const isMatch = found.every(
    ({ text, word }) => word?.kind === 'part' && word.text === text && word.position === words[at]?.position,
  );
  return isMatch ? { start: words[at]?.start ?? 0, end: found.at(-1)?.word?.end ?? 0 } : undefined;
}
