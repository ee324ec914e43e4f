import type { Core } from '../../compose.ts';
import { queuesOfRole, type WorkerRole } from '../../jobs/define.ts';
import type { CommandIo } from '../io.ts';

const allRoles = Object.keys(queuesOfRole) as WorkerRole[];

/** Returns the number of running workers, and the roles that none of them has. */
export async function findRunningWorkers({ db }: Pick<Core, 'db'>) {
  const workers = await db.workerNodes.list();
  const missing = allRoles.filter((role) => !workers.some(({ roles }) => roles.includes(role)));
  return { count: workers.length, missing };
}

/** Logs a note if no worker with this role is running. */
export async function warnIfRoleMissing(
  core: Pick<Core, 'db'>,
  role: WorkerRole,
  io: CommandIo,
): Promise<void> {
  const { missing } = await findRunningWorkers(core);
  if (!missing.includes(role)) return;
  io.log(`note: no worker with the role ${role} is running; the job runs once one is started\n`);
}
