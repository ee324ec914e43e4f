import { randomUUID } from 'node:crypto';
import type { Core } from '../src/compose.ts';
import { logTransitions } from '../src/platform/observability/log-transitions.ts';

const intervalMs = 5_000;

interface Parts {
  config: Pick<Core['config'], 'WORKER_ROLES'>;
  repositories: { workerNodes: Pick<Core['repositories']['workerNodes'], 'upsert' | 'remove'> };
  logger: Pick<Core['logger'], 'warn'>;
}

/**
 * Says in the database that this worker lives, and for which roles. What fails is said again with the next beat; the log hears of it
 * when that begins and when it is over, not at each beat.
 * @returns ends it and takes it back.
 */
export async function startHeartbeat({ config, repositories, logger }: Parts): Promise<() => Promise<void>> {
  const { workerNodes } = repositories;
  const id = randomUUID();
  const noted = logTransitions(
    logger,
    {
      failing: 'no sign of life is written: doctor may take this worker for dead',
      recovered: 'signs of life are written again',
    },
    { node: id },
  );
  const say = () => noted(workerNodes.upsert(id, config.WORKER_ROLES));
  let said = say();
  await said;
  const timer = setInterval(() => {
    said = said.then(say);
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await said;
    await noted(workerNodes.remove(id));
  };
}
