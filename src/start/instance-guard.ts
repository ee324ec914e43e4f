import { createHash } from 'node:crypto';
import type { Core } from '../compose.ts';
import { logTransitions } from '../platform/observability/log-transitions.ts';

/** Others see an installation for 20 s after its last beat (platform/redis-tenants.ts). */
const defaultHeartbeatMs = 5_000;

type Parts = Pick<Core, 'config' | 'queues' | 'repositories'>;

/**
 * What tells this installation from others that use the same Redis: its database, with a mark that comes of the server and of SECRET_KEY.
 * A promoted standby, and every process, has the same; a copy of the database elsewhere has another.
 */
async function readInstanceName({ config, repositories }: Parts): Promise<string> {
  const { name, place } = await repositories.feedEpoch.identifyDatabase();
  const mark = createHash('sha256').update(`installation\0${place}\0${config.SECRET_KEY}`).digest('hex');
  return `${name} (${mark.slice(0, 12)})`;
}

/**
 * Which other installations live under the same REDIS_PREFIX: they take each other's jobs. Each is told by the name of its database.
 * Rejects when the queues are away.
 */
export async function findOtherInstances(parts: Parts): Promise<string[]> {
  const own = await readInstanceName(parts);
  const all = await parts.queues.instances();
  return all.filter((name) => name !== own);
}

/** What is wrong then, in words for whoever operates them. */
export function describeSharedQueues({ config }: Pick<Core, 'config'>, others: readonly string[]): string {
  return `REDIS_PREFIX: another installation, with the database ${others.join(', ')}, works under ${config.REDIS_PREFIX} on this Redis, and each takes jobs of the other`;
}

/**
 * Says in the queues, again and again, that this installation uses them. A Redis that is away is asked later.
 * @returns ends it.
 * @throws {Error} when another one does already.
 */
export async function startInstanceGuard(
  parts: Parts & Pick<Core, 'logger'>,
  beat_ms = defaultHeartbeatMs,
): Promise<() => void> {
  const { queues, logger } = parts;
  const own = await readInstanceName(parts);
  let shared = false;

  async function beat(): Promise<void> {
    const others = (await queues.instances(own)).filter((name) => name !== own);
    if (others.length > 0 && !shared) logger.error({ others }, describeSharedQueues(parts, others));
    shared = others.length > 0;
  }
  const noted = logTransitions(logger, {
    failing: 'not said who uses the queues: another installation under this REDIS_PREFIX would not be seen',
    recovered: 'it is said again who uses the queues',
  });

  const others = await noted(findOtherInstances(parts));
  if (others && others.length > 0) {
    throw new Error(
      `${describeSharedQueues(parts, others)}; give each a REDIS_PREFIX of its own (one that has ended is seen for 20 s)`,
    );
  }
  const begun = noted(beat());
  // Queues that are away hold up no start.
  if (others) await begun;
  const timer = setInterval(() => void noted(beat()), beat_ms);
  return () => clearInterval(timer);
}
