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

const limitLabels = { statement_timeout: 'a statement', lock_timeout: 'a lock' } as const;

/**
 * How long the server lets a statement take that stands alone. Behind a pooler the service cannot set that: only transactions bring
 * their limits along.
 * @throws when it has no limit.
 */
export async function checkDatabaseLimits({ database }: Pick<Core, 'database'>): Promise<string> {
  type Limit = { name: keyof typeof limitLabels; milliseconds: number };
  const text = `select name, setting::int as milliseconds from pg_settings where name in ('statement_timeout', 'lock_timeout') order by name desc`;
  const limits = await database.query<Limit>({ text }, []);
  const absent = limits.filter(({ milliseconds }) => milliseconds === 0).map(({ name }) => name);
  if (absent.length > 0) throw new Error(`the server sets no ${absent.join(' and no ')}`);
  return limits
    .map(({ name, milliseconds }) => `${milliseconds / 1_000} s for ${limitLabels[name]}`)
    .join(', ');
}
