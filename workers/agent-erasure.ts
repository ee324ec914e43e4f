import { system } from '../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../src/compose.ts';
import { agentErasure } from '../src/jobs/outbox-jobs.ts';
import { runErasureStep } from '../src/services/agents/erasures.ts';
import type { JobHandler } from './consume-queues.ts';
import { waitForOpenTransactions } from './open-transactions.ts';

/**
 * Returns the handler that erases agents in bounded steps. Each step stores its progress, so another worker can continue after a kill.
 * @param stop aborts after the current step, with its reason.
 */
export function agentErasureHandler(core: Core, stop: AbortSignal): JobHandler<{ ids: string[] }> {
  const { db, unitOfWork, blobs, logger } = core;

  async function erase(id: string): Promise<void> {
    let erasure = await db.erasures.find(id);
    while (erasure && erasure.done_at === null) {
      // They may still commit data of the agent from before it was retired, and search rows from before its messages were erased.
      if (erasure.stage === 'belongings' || (erasure.stage === 'files' && erasure.doomed_keys.length === 0))
        await waitForOpenTransactions(core, stop);
      const removed = erasure.doomed_keys;
      for (const key of removed) {
        stop.throwIfAborted();
        await blobs.remove(key);
      }
      stop.throwIfAborted();
      erasure = await unitOfWork.write(system, (work) => runErasureStep(work, id, removed));
    }
    await db.outbox.complete(agentErasure.name, [id]);
    logger.info({ erasure: id }, 'agent erased');
  }

  return {
    contract: agentErasure,
    async handle({ ids }) {
      for (const id of ids) await erase(id);
    },
  };
}
