import { createHash } from 'node:crypto';
import type { Core } from '../compose.ts';
import { checkSecretKey } from '../services/auth/signing-keys.ts';
import { logTransitions } from '../platform/observability/log-transitions.ts';

/** An instance stays registered for 20 s after its last heartbeat (platform/redis/instances.ts). */
const defaultHeartbeatMs = 5_000;

type Parts = Pick<Core, 'config' | 'queues' | 'db'>;

/**
 * The names that distinguish this instance from others on the same Redis: its database, and a hash of the server and SECRET_KEY, or a
 * fallback of it. A promoted standby has the same names; a copy of the database on another server has others.
 */
async function readInstanceNames({ config, db }: Parts): Promise<string[]> {
  const { name, place } = await db.feedEpoch.identifyDatabase();
  return config.SECRETS.map((secret) => {
    const fingerprint = createHash('sha256').update(`installation\0${place}\0${secret}`).digest('hex');
    return `${name} (${fingerprint.slice(0, 12)})`;
  });
}

/** Returns the other instances with the same REDIS_PREFIX: they take each other's jobs. Rejects when the queues are unavailable. */
export async function findOtherInstances(parts: Parts): Promise<string[]> {
  const own = await readInstanceNames(parts);
  const all = await parts.queues.instances();
  return all.filter((name) => !own.includes(name));
}

/** The error message for operators. */
export function describeSharedQueues({ config }: Pick<Core, 'config'>, others: readonly string[]): string {
  return `REDIS_PREFIX: another instance, with the database ${others.join(', ')}, uses the prefix ${config.REDIS_PREFIX} on this Redis; the two take each other's jobs`;
}

/**
 * Registers this instance in the queues, and repeats that as a heartbeat. An unavailable Redis does not prevent the start.
 * @returns a function that ends the heartbeat.
 * @throws {Error} when another instance uses the same REDIS_PREFIX, or this one has used another SECRET_KEY.
 */
export async function startInstanceGuard(
  parts: Parts & Pick<Core, 'logger'>,
  heartbeatMs = defaultHeartbeatMs,
): Promise<() => void> {
  const { queues, logger, db, config } = parts;
  // With another key, this process would be taken for another instance.
  await checkSecretKey(db, config.SECRETS);
  const own = await readInstanceNames(parts);
  let isShared = false;

  async function heartbeat(): Promise<void> {
    const others = (await queues.instances(own[0])).filter((name) => !own.includes(name));
    if (others.length > 0 && !isShared) logger.error({ others }, describeSharedQueues(parts, others));
    isShared = others.length > 0;
  }
  const logged = logTransitions(logger, {
    failing: 'cannot register in the queues: another instance with this REDIS_PREFIX would not be detected',
    recovered: 'registered in the queues again',
  });

  const others = await logged(findOtherInstances(parts));
  if (others && others.length > 0) {
    throw new Error(
      `${describeSharedQueues(parts, others)}; set a different REDIS_PREFIX for each (an instance that has stopped stays registered for 20 s)`,
    );
  }
  const firstBeat = logged(heartbeat());
  // Unavailable queues must not delay the start.
  if (others) await firstBeat;
  const timer = setInterval(() => void logged(heartbeat()), heartbeatMs);
  return () => clearInterval(timer);
}
