import type { Core } from '../src/compose.ts';
import { messageWithdrawal } from '../src/jobs/outbox-jobs.ts';
import type { JobHandler } from './consume-queues.ts';
import { expireUploads } from './maintenance/file-retention.ts';
import { waitForOpenTransactions } from './open-transactions.ts';

/**
 * Returns the handler that completes withdrawals: it removes the bytes of their files, which are expired uploads now, and search rows that an
 * index run wrote while the message was withdrawn. It can be repeated after a kill.
 */
export function withdrawalHandler(core: Core, stop: AbortSignal): JobHandler<{ ids: string[] }> {
  return {
    contract: messageWithdrawal,
    async handle({ ids }) {
      await expireUploads(core);
      // An index run that read a message before its withdrawal has committed then.
      await waitForOpenTransactions(core, stop);
      await core.db.messageSearch.remove(ids);
      await core.db.outbox.complete(messageWithdrawal.name, ids);
    },
  };
}
