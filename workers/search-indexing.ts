import type { Core } from '../src/compose.ts';
import { searchIndexing } from '../src/jobs/search-indexing.ts';
import { indexMessages } from '../src/services/search-index.ts';
import { eachOrAll, type JobHandler } from './run.ts';

/** Writes the search rows of messages, in one statement for a batch. */
export function searchIndexingHandler({ repositories }: Core): JobHandler<{ ids: string[] }> {
  async function index(ids: readonly string[]): Promise<void> {
    await indexMessages(repositories, ids, Date.now());
    await repositories.outbox.settle(searchIndexing.name, ids);
  }
  return { contract: searchIndexing, handle: ({ ids }) => eachOrAll(ids, index) };
}
