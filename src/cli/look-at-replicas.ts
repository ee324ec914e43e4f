import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../compose.ts';

/** Looks at a replica before it is said to be ill: it may just be on its way, and is judged by where the database was before. */
const looks = 10;
const pause_ms = 500;

/**
 * Says that every replica is well, and how far behind.
 * @throws {Error} names those that are not, and what is wrong with them.
 */
export async function lookAtReplicas(
  replicas: Pick<Core['replicas'], 'look' | 'standings'>,
): Promise<string> {
  const illOnes = () => replicas.standings().filter(({ ill }) => ill !== null);
  await replicas.look();
  for (let look = 1; look < looks && illOnes().length > 0; look += 1) {
    await pause(pause_ms);
    await replicas.look();
  }
  const ill = illOnes().map((replica) => `${replica.name}: ${replica.ill}`);
  if (ill.length > 0) throw new Error(ill.join('; '));
  const told = replicas.standings().map(({ name, behind_ms }) => `${name}, ${behind_ms ?? 0} ms behind`);
  return told.length > 0 ? told.join('; ') : 'none: the database answers everything';
}
