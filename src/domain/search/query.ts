import { wrongField } from '../errors.ts';
import { quoteWord, type Word, tokenize } from './tokenizer.ts';

/** One word to look for. */
export interface QueryWord {
  text: string;
  /** Whether words that begin with it match too. */
  isPrefix: boolean;
  /** Of a script without spaces: see Word. */
  isUnspaced: boolean;
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
 * word that begins so. Words that are separated only by punctuation, as in re-index, have to be adjacent too.
 * @throws {DomainError} VALIDATION_ERROR for `field` when there is nothing to find, more than 20 terms, or more than 5 prefixes.
 */
export function parseSearch(query: string, field: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  for (const { groups = {} } of query.matchAll(termPattern)) {
    const words = toQueryWords(groups['phrase'] ?? groups['bare'] ?? '');
    if (words.length > 0) terms.push({ words, isExcluded: groups['minus'] !== undefined });
  }
  if (terms.length > maxTerms) throw wrongField(field, `must have at most ${maxTerms} terms`);
  const prefixes = terms.flatMap(({ words }) => words.filter((word) => word.isPrefix && !word.isUnspaced));
  if (prefixes.length > maxPrefixes) throw wrongField(field, `must have at most ${maxPrefixes} words with *`);
  if (terms.every((term) => term.isExcluded)) throw wrongField(field, 'must name at least one word to find');
  return terms;
}

function toQueryWords(text: string): QueryWord[] {
  const words = tokenize(text);
  return words.flatMap((word, index) => {
    const final = index === words.length - 1;
    // The end of the query is not the end of the run in the message: only a single character matches by itself.
    const paired =
      final && word.isUnspaced && word.isLast && words[index - 1]?.isUnspaced && !words[index - 1]?.isLast;
    if (paired) return [];
    const isPrefix = word.isUnspaced ? final && word.isLast : text[word.end] === '*';
    return [{ text: word.text, isPrefix, isUnspaced: word.isUnspaced }];
  });
}

/** The terms as the text form of a PostgreSQL `tsquery`. */
export function toTsQuery(terms: readonly SearchTerm[]): string {
  return terms
    .map(({ words, isExcluded }) => `${isExcluded ? '!' : ''}(${words.map(operand).join('<->')})`)
    .join('&');
}

/**
 * The words of a query in any order, as a `tsquery` that an index of words answers without reading the messages. Matches all messages
 * of the query, and possibly more.
 */
export function toWordsQuery(terms: readonly SearchTerm[]): string {
  return terms
    .filter(({ words, isExcluded }) => !isExcluded || words.length === 1)
    .map(({ words, isExcluded }) => `${isExcluded ? '!' : ''}(${words.map(operand).join('&')})`)
    .join('&');
}

function operand({ text, isPrefix }: QueryWord): string {
  return `${quoteWord(text)}${isPrefix ? ':*' : ''}`;
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
    if (!matchesAt(first, queryWords, words)) continue;
    for (const [offset, queryWord] of queryWords.entries()) {
      const word = words[first + offset];
      // When a phrase overlaps itself, this word is marked already.
      if (word && word.start > (hits.at(-1)?.start ?? -1)) hits.push(toTextRange(queryWord, word));
    }
  }
  return hits;
}

/** A loop instead of a callback: each of 100 query words is compared with each of 16,000 words of a message. */
function matchesAt(first: number, queryWords: readonly QueryWord[], words: readonly Word[]): boolean {
  let at = first;
  for (const queryWord of queryWords) {
    if (!matches(queryWord, words[at])) return false;
    at += 1;
  }
  return true;
}

function matches({ text, isPrefix }: QueryWord, word: Word | undefined): boolean {
  return word !== undefined && (isPrefix ? word.text.startsWith(text) : word.text === text);
}

/** A single character of a script without spaces matches the start of a pair; only that character is the match. */
function toTextRange({ isPrefix, isUnspaced }: QueryWord, word: Word): TextRange {
  return { start: word.start, end: isPrefix && isUnspaced ? word.firstCharEnd : word.end };
}
