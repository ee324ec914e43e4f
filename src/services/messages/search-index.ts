import { searchTextVersion, toTsVector } from '../../../packages/core/src/domain/search/tokenizer.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { mapInTurns } from '../../shared/map-in-turns.ts';

/**
 * Writes the search rows of the messages of these events; unknown ids are ignored. Idempotent and safe to run concurrently.
 * @param now milliseconds.
 */
export async function indexMessages(
  { db: { messageSearch } }: Pick<ReadWork, 'db'>,
  eventIds: readonly string[],
  now: number,
): Promise<void> {
  const contents = await messageSearch.listContents(eventIds);
  await messageSearch.index(await mapInTurns(contents, toDocument), searchTextVersion, now);
}

function toDocument({ id, content }: { id: string; content: string }) {
  return { message_id: id, document: toTsVector(content) };
}

export interface ReindexStep {
  /** The last examined message; the next step continues after it. */
  after: string;
  examined: number;
  written: number;
}

/**
 * Runs one step of a re-index: reads the next messages in the order of their ids and writes search rows that are missing or of an
 * older tokenizer version, or with `all` every row. It can run while new messages are indexed.
 * @returns null if there are no messages after `after`.
 */
export async function reindexStep(
  { db: { messageSearch } }: Pick<ReadWork, 'db'>,
  { after, all, limit }: { after: string; all: boolean; limit: number },
): Promise<ReindexStep | null> {
  const rows = await messageSearch.listAfter(after, { version: searchTextVersion, all, limit });
  const last = rows.at(-1);
  if (!last) return null;
  const stale = rows.flatMap(({ id, content }) => (content === null ? [] : [{ id, content }]));
  if (stale.length > 0)
    await messageSearch.replace(await mapInTurns(stale, toDocument), searchTextVersion, Date.now());
  return { after: last.id, examined: rows.length, written: stale.length };
}
