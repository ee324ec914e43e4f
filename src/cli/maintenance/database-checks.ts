import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../../compose.ts';
import { maxClockDifferenceMs } from '../../shared/clock.ts';

/** A replica may only be catching up, so it is checked several times before it is reported. */
const maxAttempts = 10;
const pauseMs = 500;

/**
 * Returns the name and lag of every replica.
 * @throws with the name and problem of each failing replica
 */
export async function checkReplicas(
  replicas: Pick<Core['replicas'], 'refresh' | 'statuses'>,
): Promise<string> {
  const findFailing = () => replicas.statuses().filter(({ problem }) => problem !== null);
  await replicas.refresh();
  for (let attempt = 1; attempt < maxAttempts && findFailing().length > 0; attempt += 1) {
    await pause(pauseMs);
    await replicas.refresh();
  }
  const problems = findFailing().map((replica) => `${replica.name}: ${replica.problem}`);
  if (problems.length > 0) throw new Error(problems.join('; '));
  const lags = replicas.statuses().map(({ name, lagMs }) => `${name}, ${lagMs ?? 0} ms behind`);
  return lags.length > 0 ? lags.join('; ') : 'none configured';
}

/**
 * Returns the statement and lock timeouts of the server. Behind a pooler the service can set them only within transactions, so the
 * server must have defaults.
 * @throws if the server has no default
 */
export async function checkDatabaseLimits({ database }: Pick<Core, 'database'>): Promise<string> {
  type Limit = { name: string; milliseconds: number };
  const text = `select name, setting::int as milliseconds from pg_settings where name in ('statement_timeout', 'lock_timeout') order by name desc`;
  const limits = await database.query<Limit>({ text }, []);
  const missing = limits.filter(({ milliseconds }) => milliseconds === 0).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`the server has no default for ${missing.join(' and ')}`);
  return limits.map(({ name, milliseconds }) => `${name} ${milliseconds / 1_000} s`).join(', ');
}

/**
 * Compares the clock of this machine with that of the database.
 * @throws if they differ by more than the processes of the service bear
 */
export async function checkClocks({ clock }: Pick<Core, 'clock'>): Promise<string> {
  const difference = await clock.measure();
  const found = `${Math.abs(difference) / 1_000} s`;
  const limit = `${maxClockDifferenceMs / 1_000} s`;
  if (Math.abs(difference) <= maxClockDifferenceMs) return `this machine and the database differ by ${found}`;
  const late = difference > 0 ? 'this machine' : 'the database';
  throw new Error(`the clock of ${late} is ${found} slow; at most ${limit} are allowed`);
}
