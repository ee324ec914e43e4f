import { randomUUID } from 'node:crypto';
import type { Core } from '../src/compose.ts';
import { logTransitions } from '../src/platform/observability/log-transitions.ts';

const intervalMs = 5_000;

interface Parts {
  config: Pick<Core['config'], 'WORKER_ROLES'>;
  db: { workerNodes: Pick<Core['db']['workerNodes'], 'upsert' | 'remove'> };
  logger: Pick<Core['logger'], 'warn'>;
}

/**
 * Writes a heartbeat with the roles of this worker to the database every five seconds. Failures are logged once when they begin and once
 * when they end.
 * @returns a function that stops the heartbeat and removes its row.
 */
export async function startHeartbeat({ config, db, logger }: Parts): Promise<() => Promise<void>> {
  const { workerNodes } = db;
  const id = randomUUID();
  const log = logTransitions(
    logger,
    {
      failing: 'worker heartbeat failed; doctor may report this worker as dead',
      recovered: 'worker heartbeat resumed',
    },
    { node: id },
  );
  const write = () => log(workerNodes.upsert(id, config.WORKER_ROLES));
  let lastWrite = write();
  await lastWrite;
  const timer = setInterval(() => {
    lastWrite = lastWrite.then(write);
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await lastWrite;
    await log(workerNodes.remove(id));
  };
}
