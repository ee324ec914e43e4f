import type { History } from './database.ts';
import type { RequestKind } from './requests.ts';

/** Number of different queries of each kind. */
const queries = 40;

/**
 * Searches by word frequency, as ranges of the vocabulary. With texts of 30 words, the first word is in nearly every message, the
 * 100th in 3 of 100, the 1,000th in 3 of 1,000, and the last ones in 1 of 7,000.
 */
const samplePositions: readonly [name: string, from: number, to: number][] = [
  ['common word', 0, 20],
  ['frequent word', 100, 300],
  ['middling word', 500, 1_500],
  ['rare word', 15_000, 20_000],
];

/** Searches in all threads of the agent, newest first. */
export function listSearchKinds({ vocabulary, samples }: History): RequestKind[] {
  const spread = <T>(items: readonly T[]) => {
    const step = Math.max(1, items.length / queries);
    return Array.from({ length: Math.min(queries, items.length) }, (_, at) => items[Math.floor(at * step)]);
  };
  const kind = (name: string, texts: readonly (string | undefined)[]) => ({
    name: `search, ${name}`,
    paths: texts.map((text) => `/v1/messages/search?limit=20&q=${encodeURIComponent(text ?? '')}`),
  });
  const words = samplePositions.map(([name, from, to]) => kind(name, spread(vocabulary.slice(from, to))));
  const middling = spread(vocabulary.slice(500, 1_500));
  const sentences = spread(samples()).map((text) => text?.split(' ') ?? []);
  return [
    ...words,
    kind(
      'two middling words',
      middling.map((word, at) => `${word} ${middling.at(at - 1)}`),
    ),
    kind(
      'phrase',
      sentences.map((sentence) => `"${sentence.slice(3, 5).join(' ')}"`),
    ),
    kind(
      'prefix',
      middling.map((word) => `${word?.slice(0, 4)}*`),
    ),
    kind(
      'nothing',
      middling.map((_, at) => `xyzzy${at}`),
    ),
  ];
}
