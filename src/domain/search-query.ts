import { wrongField } from './errors.ts';
import { quoted, type Word, wordsOf } from './search-text.ts';

/** One word to look for. */
export interface SoughtWord {
  text: string;
  /** Whether words that only begin with it are found too. */
  prefix: boolean;
  /** Of a script without spaces: see Word. */
  dense: boolean;
}

/** Words that must stand side by side, or must not. */
export interface SearchTerm {
  words: SoughtWord[];
  excluded: boolean;
}

export const longestQuery = 200;
const mostTerms = 20;
/** Each one makes the database gather every word that begins so. */
const mostPrefixes = 5;

/** A minus right before a term; a phrase, whose end may be missing; or anything up to a space or a quote. */
const parts = /(?<minus>-)?(?:["“”„＂](?<phrase>[^"“”„＂]*)["“”„＂]?|(?<bare>[^\s"“”„＂]+))/gu;

/**
 * Reads a query: words are all to be found; "words in quotes" side by side; -word and -"a phrase" must not be there; word* stands
 * for every word that begins so. Words that only punctuation parts, as in re-index, stand side by side too.
 * @throws {DomainError} VALIDATION_ERROR when there is nothing to find, more than 20 terms, or more than 5 prefixes. `field` is named in it.
 */
export function parseSearch(query: string, field: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  for (const { groups = {} } of query.matchAll(parts)) {
    const words = soughtWords(groups['phrase'] ?? groups['bare'] ?? '');
    if (words.length > 0) terms.push({ words, excluded: groups['minus'] !== undefined });
  }
  if (terms.length > mostTerms) throw wrongField(field, `must have at most ${mostTerms} terms`);
  const prefixes = terms.flatMap(({ words }) => words.filter((word) => word.prefix && !word.dense));
  if (prefixes.length > mostPrefixes)
    throw wrongField(field, `must have at most ${mostPrefixes} words with *`);
  if (terms.every((term) => term.excluded)) throw wrongField(field, 'must name at least one word to find');
  return terms;
}

function soughtWords(text: string): SoughtWord[] {
  const words = wordsOf(text);
  return words.flatMap((word, index) => {
    const final = index === words.length - 1;
    // The end of the query is not the end of the run in the message: only a character without a pair stands for itself.
    const paired = final && word.dense && word.last && words[index - 1]?.dense && !words[index - 1]?.last;
    if (paired) return [];
    const prefix = word.dense ? final && word.last : text[word.end] === '*';
    return [{ text: word.text, prefix, dense: word.dense }];
  });
}

/** The terms as the text form of a PostgreSQL `tsquery`. */
export function queryText(terms: readonly SearchTerm[]): string {
  return terms
    .map(({ words, excluded }) => `${excluded ? '!' : ''}(${words.map(operand).join('<->')})`)
    .join('&');
}

function operand({ text, prefix }: SoughtWord): string {
  return `${quoted(text)}${prefix ? ':*' : ''}`;
}

export interface Stretch {
  start: number;
  end: number;
}

/** More hits of a term than this change nothing for a reader, and cost time. */
const mostHits = 500;

/** Where a term's words stand in a text that is given as its words: the first 500 places, in order. */
export function hitsOf({ words: sought }: SearchTerm, words: readonly Word[]): Stretch[] {
  const hits: Stretch[] = [];
  for (let first = 0; first < words.length && hits.length < mostHits; first += 1) {
    if (!standAt(first, sought, words)) continue;
    for (const [step, one] of sought.entries()) {
      const word = words[first + step];
      // A phrase that overlaps itself was marked there already.
      if (word && word.start > (hits.at(-1)?.start ?? -1)) hits.push(stretchOf(one, word));
    }
  }
  return hits;
}

/** A loop without a callback: a query of 100 words is compared with each of 16,000 words of a message. */
function standAt(first: number, sought: readonly SoughtWord[], words: readonly Word[]): boolean {
  let at = first;
  for (const one of sought) {
    if (!matches(one, words[at])) return false;
    at += 1;
  }
  return true;
}

function matches({ text, prefix }: SoughtWord, word: Word | undefined): boolean {
  return word !== undefined && (prefix ? word.text.startsWith(text) : word.text === text);
}

/** A single character of a script without spaces is found at the head of a pair, and is itself all that was found. */
function stretchOf({ prefix, dense }: SoughtWord, word: Word): Stretch {
  return { start: word.start, end: prefix && dense ? word.head_end : word.end };
}
