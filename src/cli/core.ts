import { userInfo } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { compose, type Core } from '../compose.ts';
import { type Config, ConfigError, loadConfig } from '../config.ts';
import { type Author, authorFromOperator } from '../../packages/core/src/domain/auth/audit.ts';
import { withServiceEnv } from '../embedded/service-env.ts';
import { revocationMessages } from '../services/auth/revocations.ts';
import type { Revocation } from '../services/auth/tokens.ts';
import type { CommandIo } from './io.ts';

/**
 * Returns the settings of this environment, or of the service that `ams start` or `npm start` runs in this folder.
 * @throws {ConfigError} for the first setting that is missing or wrong.
 */
export function loadServiceConfig(env: CommandIo['env']): Config {
  const found = withServiceEnv(env);
  if (found['DATABASE_URL']) return loadConfig(found);
  throw new ConfigError(
    'DATABASE_URL: is not set and no service was found; start one in this folder (ams start), or set DATABASE_URL',
  );
}

/** Opens the service's core, runs a command with it, and closes it. */
export async function withCore<T>({ env }: CommandIo, run: (core: Core) => Promise<T>): Promise<T> {
  // A command reports its error in one line; connection logs would repeat it.
  const core = compose({ ...loadServiceConfig(env), LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: 2 }, 'ams');
  try {
    return await run(core);
  } finally {
    await core.close();
  }
}

/** Returns the author of what a command changes. */
export function operator(): Author {
  return authorFromOperator(operatorName());
}

/** Returns the name of the operating system user; in some containers the user has no name. */
function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

const connectTimeoutMs = 3_000;

/** Whether the bus connects within three seconds. */
export async function waitForBus({ bus }: Core): Promise<boolean> {
  const deadline = Date.now() + connectTimeoutMs;
  while (!bus.isHealthy() && Date.now() < deadline) await pause(20);
  return bus.isHealthy();
}

/** Publishes revocations to running processes. If the bus is unavailable, they notice the change in the database later. */
export async function publishRevocations(
  core: Core,
  revocations: readonly Revocation[],
  io: CommandIo,
): Promise<void> {
  if (revocations.length === 0) return;
  try {
    await waitForBus(core);
    await core.bus.publish(revocationMessages(revocations));
  } catch {
    io.log('note: the bus is unavailable; running processes notice the change within five seconds\n');
  }
}
