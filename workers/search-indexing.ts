import type { Core } from '../src/compose.ts';
import { timeOfId } from '../src/domain/ids.ts';
import { indexingOfCommit, searchIndexing } from '../src/jobs/outbox-jobs.ts';
import { indexMessages } from '../src/services/messages/search-index.ts';
import { handleJoinedIds, type JobHandler } from './consume-queues.ts';

/** Returns the handlers that write the search rows of messages, with one statement for a batch. */
export function searchIndexingHandlers({ repositories, metrics }: Core): JobHandler<{ ids: string[] }>[] {
  async function index(ids: readonly string[]): Promise<void> {
    await indexMessages(repositories, ids, Date.now());
    for (const id of ids) metrics.searchIndexLag.observe(Math.max(0, Date.now() - timeOfId(id)) / 1_000);
  }
  return [searchIndexing, indexingOfCommit].map((contract) => ({
    contract,
    handle: ({ ids: subjects }) =>
      handleJoinedIds(subjects, {
        handle: index,
        complete: (some) => repositories.outbox.complete(contract.name, some),
      }),
  }));
}
