import type { Core } from '../src/compose.ts';
import { agentErasure } from '../src/jobs/agent-erasure.ts';
import { eraseStep } from '../src/services/erasure.ts';
import type { JobHandler } from './run.ts';

/**
 * Takes agents out of the service, one bounded step after the other. How far it has come is stored with each step: whoever is killed
 * leaves the rest to the next one.
 */
export function agentErasureHandler({
  repositories,
  unitOfWork,
  blobs,
  logger,
}: Core): JobHandler<{ ids: string[] }> {
  async function erase(id: string): Promise<void> {
    let doomed = (await repositories.erasures.find(id))?.doomed_keys ?? [];
    for (;;) {
      for (const key of doomed) await blobs.remove(key);
      const removed = doomed;
      const erasure = await unitOfWork.administer((work) => eraseStep(work, id, removed));
      if (!erasure || erasure.done_at !== null) break;
      doomed = erasure.doomed_keys;
    }
    await repositories.outbox.settle(agentErasure.name, [id]);
    logger.info({ erasure: id }, 'an agent is erased');
  }

  return {
    contract: agentErasure,
    async handle({ ids }) {
      for (const id of ids) await erase(id);
    },
  };
}
