import type { Core } from '../src/compose.ts';
import { timeOfId } from '../packages/core/src/domain/ids.ts';
import { messageDelivery, searchIndexing } from '../src/jobs/outbox-jobs.ts';
import { indexMessages } from '../src/services/messages/search-index.ts';
import { handleRows, type JobHandler } from './consume-queues.ts';

/**
 * Returns the handler that writes the search rows of messages, with one statement for a batch. It completes the rows of the messages: they were
 * delivered before. Messages are counted by the statement that completes their rows.
 */
export function searchIndexingHandler({ db, metrics }: Core): JobHandler<{ ids: string[] }> {
  async function index(ids: readonly string[]): Promise<void> {
    await indexMessages({ db }, ids, Date.now());
    for (const id of ids) metrics.searchIndexLag.observe(Math.max(0, Date.now() - timeOfId(id)) / 1_000);
  }
  return {
    contract: searchIndexing,
    handle: ({ ids }) =>
      handleRows(ids, {
        handle: index,
        complete: (some) => db.usage.complete(messageDelivery.name, some),
        split: (some) => db.outbox.split(messageDelivery.name, some),
      }),
  };
}
