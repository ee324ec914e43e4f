import { findHits, type SearchTerm, type TextRange } from './query.ts';
import { tokenize } from './tokenizer.ts';

/** In UTF-16 code units, without markers and ellipses. */
const maxSnippetLength = 160;
/** How far an end may move inwards to avoid cutting a word. */
const slack = 20;
/** The number of matches that are considered for the best part. */
const maxCandidates = 500;

interface Hit extends TextRange {
  term: number;
}

/**
 * The part of a message with the most query terms, the earliest if several: at most 160 characters, white space collapsed, each match as
 * `**match**`, `…` where text was left out.
 */
export function createSnippet(content: string, terms: readonly SearchTerm[]): string {
  const text = content.replaceAll(/\s+/gu, ' ').trim();
  const words = tokenize(text);
  const hits = terms
    .flatMap((term, number) =>
      term.isExcluded ? [] : findHits(term, words).map(({ start, end }) => ({ start, end, term: number })),
    )
    .sort((a, b) => a.start - b.start);
  const { start, end } = windowAround(text, findDensest(hits.slice(0, maxCandidates)));
  const marked = markHits(text, mergeHits(hits), start, end);
  return `${start > 0 ? '…' : ''}${marked.trim()}${end < text.length ? '…' : ''}`;
}

/** The range of matches with the most terms, then with the most matches. */
function findDensest(hits: readonly Hit[]): TextRange {
  let best = { first: 0, beyond: 0, terms: 0 };
  const hitsOfTerm = new Map<number, number>();
  let beyond = 0;
  for (const [first, { start, term }] of hits.entries()) {
    for (let hit = hits[beyond]; hit && hit.start < start + maxSnippetLength; hit = hits[beyond]) {
      hitsOfTerm.set(hit.term, (hitsOfTerm.get(hit.term) ?? 0) + 1);
      beyond += 1;
    }
    const terms = hitsOfTerm.size;
    const isBetter =
      terms > best.terms || (terms === best.terms && beyond - first > best.beyond - best.first);
    if (isBetter) best = { first, beyond, terms };
    const left = (hitsOfTerm.get(term) ?? 0) - 1;
    if (left > 0) hitsOfTerm.set(term, left);
    else hitsOfTerm.delete(term);
  }
  const near = hits.slice(best.first, best.beyond);
  const start = near[0]?.start ?? 0;
  return { start, end: Math.min(Math.max(0, ...near.map((hit) => hit.end)), start + maxSnippetLength) };
}

/** Extends the range to the length of a snippet. Its ends move inwards to avoid cutting a near word, and never cut a character. */
function windowAround(text: string, core: TextRange): TextRange {
  const before = Math.floor((maxSnippetLength - (core.end - core.start)) / 2);
  let start = Math.max(0, Math.min(core.start - before, text.length - maxSnippetLength));
  let end = Math.min(text.length, start + maxSnippetLength);
  if (start > 0) {
    const space = text.indexOf(' ', start - 1) + 1;
    if (space > 0 && space <= Math.min(core.start, start + slack)) start = space;
    else if (isLowSurrogate(text, start)) start += 1;
  }
  if (end < text.length) {
    const space = text.lastIndexOf(' ', end);
    if (space >= Math.max(core.end, end - slack)) end = space;
    else if (isLowSurrogate(text, end)) end -= 1;
  }
  return { start, end };
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Merges adjacent and overlapping matches. */
function mergeHits(hits: readonly TextRange[]): TextRange[] {
  const ranges: TextRange[] = [];
  for (const { start, end } of hits) {
    const before = ranges.at(-1);
    if (before && start <= before.end) before.end = Math.max(before.end, end);
    else ranges.push({ start, end });
  }
  return ranges;
}

function markHits(text: string, hits: readonly TextRange[], from: number, to: number): string {
  let marked = '';
  let at = from;
  for (const hit of hits) {
    const start = Math.max(hit.start, from);
    const end = Math.min(hit.end, to);
    if (start >= end) continue;
    marked += `${text.slice(at, start)}**${text.slice(start, end)}**`;
    at = end;
  }
  return marked + text.slice(at, to);
}
