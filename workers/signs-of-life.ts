import { randomUUID } from 'node:crypto';
import type { Core } from '../src/compose.ts';
import { tellTurns } from '../src/platform/turns.ts';

const beat_ms = 5_000;

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
export async function giveSigns({ config, repositories, logger }: Parts): Promise<() => Promise<void>> {
  const { workerNodes } = repositories;
  const id = randomUUID();
  const noted = tellTurns(
    logger,
    {
      failing: 'no sign of life is written: doctor may take this worker for dead',
      well: 'signs of life are written again',
    },
    { node: id },
  );
  const say = () => noted(workerNodes.upsert(id, config.WORKER_ROLES));
  let said = say();
  await said;
  const timer = setInterval(() => {
    said = said.then(say);
  }, beat_ms);
  return async () => {
    clearInterval(timer);
    await said;
    await noted(workerNodes.remove(id));
  };
}
