import { randomUUID } from 'node:crypto';
import type { Core } from '../src/compose.ts';

const beat_ms = 5_000;

/**
 * Says in the database that this worker lives, and for which roles. What fails is said again with the next beat.
 * @returns ends it and takes it back.
 */
export async function giveSigns({
  config,
  repositories,
  logger,
}: Pick<Core, 'config' | 'repositories' | 'logger'>): Promise<() => Promise<void>> {
  const { workerNodes } = repositories;
  const id = randomUUID();
  const quietly = (said: Promise<void>) =>
    said.catch((error: unknown) => logger.debug({ err: error }, 'no sign of life was written'));
  const say = () => quietly(workerNodes.upsert(id, config.WORKER_ROLES));
  let said = say();
  await said;
  const timer = setInterval(() => {
    said = said.then(say);
  }, beat_ms);
  return async () => {
    clearInterval(timer);
    await said;
    await quietly(workerNodes.remove(id));
  };
}
