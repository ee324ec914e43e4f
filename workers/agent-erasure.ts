import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../src/compose.ts';
import { agentErasure } from '../src/jobs/outbox-jobs.ts';
import { runErasureStep } from '../src/services/agents/erasures.ts';
import type { JobHandler } from './consume-queues.ts';

/** Milliseconds between two looks at what is under way. */
const pollIntervalMs = 100;

/**
 * Takes agents out of the service, one bounded step after the other. How far it has come is stored with each step: whoever is killed
 * leaves the rest to the next one.
 * @param stop ends it after the step under way, with its reason.
 */
export function agentErasureHandler(
  { repositories, unitOfWork, blobs, logger }: Core,
  stop: AbortSignal,
): JobHandler<{ ids: string[] }> {
  /** Who found the agent active may still commit something of it; whoever begins from now on finds it retired. */
  async function lastWords(): Promise<void> {
    const moment = await repositories.erasure.readDatabaseTime();
    while (await repositories.erasure.hasOpenTransactionSince(moment)) {
      stop.throwIfAborted();
      await pause(pollIntervalMs);
    }
  }

  async function erase(id: string): Promise<void> {
    await lastWords();
    let doomed = (await repositories.erasures.find(id))?.doomed_keys ?? [];
    for (;;) {
      for (const key of doomed) {
        stop.throwIfAborted();
        await blobs.remove(key);
      }
      stop.throwIfAborted();
      const removed = doomed;
      const erasure = await unitOfWork.writeAsSystem((work) => runErasureStep(work, id, removed));
      if (!erasure || erasure.done_at !== null) break;
      doomed = erasure.doomed_keys;
    }
    await repositories.outbox.complete(agentErasure.name, [id]);
    logger.info({ erasure: id }, 'an agent is erased');
  }

  return {
    contract: agentErasure,
    async handle({ ids }) {
      for (const id of ids) await erase(id);
    },
  };
}
