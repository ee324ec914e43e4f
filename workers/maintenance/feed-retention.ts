import type { Core } from '../../src/compose.ts';
import { minIdAt } from '../../src/domain/ids.ts';
import { dropPartitions, type PartitionCore } from './partitions.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** How much longer an event stays than its lines: a reader may hold lines whose events it has not loaded yet. */
const extraEventRetentionMs = dayMs;

export interface RetentionSteps {
  /** Agents looked at in one statement. */
  agents: number;
  /** Feeds that one statement shortens, and the lines that it takes from each. */
  feeds: number;
  entries: number;
  /** Events that one statement removes. */
  events: number;
}

const defaultSteps: RetentionSteps = { agents: 500, feeds: 20, entries: 100, events: 1_000 };

/**
 * Removes what feeds hold for longer than so many days: by whole partitions, and one by one what lies in none, because tables are not in
 * partitions yet, or a clock was far behind.
 * @param now milliseconds since the epoch.
 */
export async function expireFeeds(
  core: PartitionCore,
  { now, days }: { now: number; days: number },
): Promise<void> {
  const { partitions } = core.repositories;
  const oldest = minIdAt('event', now - days * dayMs);
  const gone = minIdAt('event', now - days * dayMs - extraEventRetentionMs);
  await dropPartitions(core, 'feed', oldest);
  await dropPartitions(core, 'events', gone);
  const tables = new Set((await partitions.list()).map(({ table }) => table));
  const whole = tables.has('feed') && tables.has('events');
  if (
    whole &&
    !(await partitions.hasRowsInDefault('feed', oldest)) &&
    !(await partitions.hasRowsInDefault('events', gone))
  )
    return;
  await removeOldFeeds(core.repositories, { now, days });
}

/**
 * Removes the lines of feeds that are older than so many days, and then the events that no line leads to any more. Every
 * statement stands alone and leaves feeds without holes and lines with their events, so it may be killed at any of them and run
 * twice at once. Agents, not events, are gone through: an agent without old lines costs one look.
 * @param now milliseconds since the epoch.
 */
export async function removeOldFeeds(
  { feedRetention }: Pick<Core['repositories'], 'feedRetention'>,
  { now, days, steps = defaultSteps }: { now: number; days: number; steps?: RetentionSteps },
): Promise<void> {
  const oldest = now - days * dayMs;
  const olderThan = minIdAt('event', oldest);

  async function shorten(agents: readonly string[]): Promise<void> {
    let left = agents;
    while (left.length > 0) {
      const removed = await feedRetention.removeEntries(left, olderThan, steps.entries);
      left = removed.filter(({ entries }) => entries === steps.entries).map(({ agent_id }) => agent_id);
    }
  }

  let after = '';
  for (;;) {
    const looked = await feedRetention.listAgents(after, olderThan, steps.agents);
    const old = looked.filter((agent) => agent.old).map(({ agent_id }) => agent_id);
    for (let at = 0; at < old.length; at += steps.feeds) await shorten(old.slice(at, at + steps.feeds));
    const last = looked.at(-1);
    if (!last || looked.length < steps.agents) break;
    after = last.agent_id;
  }
  const gone = minIdAt('event', oldest - extraEventRetentionMs);
  while ((await feedRetention.removeEvents(gone, steps.events)) === steps.events);
}
