import { searchTextVersion, toTsVector } from '../../domain/search/tokenizer.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { mapInTurns } from '../../shared/map-in-turns.ts';

type Search = Pick<SystemWork, 'messageSearch'>;

/**
 * Writes the search rows of these messages; ids of no message are passed over. May run twice, and at once with itself.
 * @param now milliseconds.
 */
export async function indexMessages(
  { messageSearch }: Search,
  ids: readonly string[],
  now: number,
): Promise<void> {
  const contents = await messageSearch.listContents(ids);
  await messageSearch.index(await mapInTurns(contents, toDocument), searchTextVersion, now);
}

function toDocument({ id, content }: { id: string; content: string }) {
  return { message_id: id, document: toTsVector(content) };
}

export interface ReindexStep {
  /** The last message that was examined: where the next step, or another run, goes on. */
  after: string;
  examined: number;
  written: number;
}

/**
 * One step of a re-index: looks at the next messages in the order of their ids and writes the search rows that are missing or
 * of an older tokenizer; with `all` every one. May run beside the indexing of new messages.
 * @returns null when there is nothing behind `after`.
 */
export async function reindexStep(
  { messageSearch }: Search,
  { after, all, limit }: { after: string; all: boolean; limit: number },
): Promise<ReindexStep | null> {
  const rows = await messageSearch.listAfter(after, { version: searchTextVersion, all, limit });
  const isLast = rows.at(-1);
  if (!isLast) return null;
  const stale = rows.flatMap(({ id, content }) => (content === null ? [] : [{ id, content }]));
  if (stale.length > 0)
    await messageSearch.index(await mapInTurns(stale, toDocument), searchTextVersion, Date.now());
  return { after: isLast.id, examined: rows.length, written: stale.length };
}
