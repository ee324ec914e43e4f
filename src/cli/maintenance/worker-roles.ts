import type { Core } from '../../compose.ts';
import { queuesOfRole, type WorkerRole } from '../../jobs/define.ts';
import type { CommandIo } from '../io.ts';

const allRoles = Object.keys(queuesOfRole) as WorkerRole[];

/**
 * Which workers live.
 * @returns how many, and the roles that none of them has; undefined before the migration that can tell.
 */
export async function findRunningWorkers({ repositories }: Pick<Core, 'repositories'>) {
  const workers = await repositories.workerNodes.list();
  if (!workers) return undefined;
  const missing = allRoles.filter((role) => !workers.some(({ roles }) => roles.includes(role)));
  return { count: workers.length, missing };
}

/** Says so where a job is left to a worker of this role and none is running. */
export async function warnIfRoleMissing(
  core: Pick<Core, 'repositories'>,
  role: WorkerRole,
  io: CommandIo,
): Promise<void> {
  const workers = await findRunningWorkers(core);
  if (!workers?.missing.includes(role)) return;
  io.log(`note: no worker with the role ${role} is running; it is done as soon as one is started\n`);
}
