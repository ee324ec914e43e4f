import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../../compose.ts';

/** Looks at a replica before it is said to be ill: it may just be on its way, and is judged by where the database was before. */
const maxAttempts = 10;
const pauseMs = 500;

/**
 * Says that every replica is well, and how far behind.
 * @throws {Error} names those that are not, and what is wrong with them.
 */
export async function checkReplicas(
  replicas: Pick<Core['replicas'], 'refresh' | 'statuses'>,
): Promise<string> {
  const illOnes = () => replicas.statuses().filter(({ problem }) => problem !== null);
  await replicas.refresh();
  for (let look = 1; look < maxAttempts && illOnes().length > 0; look += 1) {
    await pause(pauseMs);
    await replicas.refresh();
  }
  const ill = illOnes().map((replica) => `${replica.name}: ${replica.problem}`);
  if (ill.length > 0) throw new Error(ill.join('; '));
  const told = replicas.statuses().map(({ name, lagMs }) => `${name}, ${lagMs ?? 0} ms behind`);
  return told.length > 0 ? told.join('; ') : 'none: the database answers everything';
}
