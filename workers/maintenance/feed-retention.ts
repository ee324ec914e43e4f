import type { Core } from '../../src/compose.ts';
import { minIdAt } from '../../packages/core/src/domain/ids.ts';
import { dropPartitions, type PartitionCore } from './partitions.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Events are kept this much longer than feed entries, because a reader may hold entries whose events it has not loaded yet. */
const extraEventRetentionMs = dayMs;

export interface RetentionBatchSizes {
  /** Agents that one statement checks. */
  agents: number;
  /** Feeds that one statement shortens, and entries that it removes from each. */
  feeds: number;
  entries: number;
  /** Events that one statement removes. */
  events: number;
}

const defaultBatchSizes: RetentionBatchSizes = { agents: 500, feeds: 20, entries: 100, events: 1_000 };

/**
 * Removes feed entries and events older than `days`: whole partitions, and single rows if a clock was wrong.
 * @param now milliseconds since the epoch.
 */
export async function expireFeeds(
  core: PartitionCore,
  { now, days }: { now: number; days: number },
): Promise<void> {
  const { partitions } = core.db;
  const oldestEntry = minIdAt('event', now - days * dayMs);
  const oldestEvent = minIdAt('event', now - days * dayMs - extraEventRetentionMs);
  await dropPartitions(core, 'feed', oldestEntry);
  await dropPartitions(core, 'events', oldestEvent);
  const hasStrays =
    (await partitions.hasRowsInDefault('feed', oldestEntry)) ||
    (await partitions.hasRowsInDefault('events', oldestEvent));
  if (hasStrays) await removeOldFeeds(core.db, { now, days });
}

/**
 * Removes feed entries older than `days`, and then events without entries. Every statement is a transaction that leaves feeds without
 * gaps and entries with their events, so a run can be killed at any point and run concurrently. It iterates over agents, not events: an
 * agent without old entries costs one look-up.
 * @param now milliseconds since the epoch.
 */
export async function removeOldFeeds(
  { feedRetention }: Pick<Core['db'], 'feedRetention'>,
  {
    now,
    days,
    batchSizes = defaultBatchSizes,
  }: { now: number; days: number; batchSizes?: RetentionBatchSizes },
): Promise<void> {
  const oldest = now - days * dayMs;
  const olderThan = minIdAt('event', oldest);

  async function shorten(agents: readonly string[]): Promise<void> {
    let left = agents;
    while (left.length > 0) {
      const removed = await feedRetention.removeEntries(left, olderThan, batchSizes.entries);
      left = removed.filter(({ entries }) => entries === batchSizes.entries).map(({ agent_id }) => agent_id);
    }
  }

  let after = '';
  for (;;) {
    const agents = await feedRetention.listAgents(after, olderThan, batchSizes.agents);
    const old = agents.filter((agent) => agent.old).map(({ agent_id }) => agent_id);
    for (let at = 0; at < old.length; at += batchSizes.feeds)
      await shorten(old.slice(at, at + batchSizes.feeds));
    const last = agents.at(-1);
    if (!last || agents.length < batchSizes.agents) break;
    after = last.agent_id;
  }
  const oldestEvent = minIdAt('event', oldest - extraEventRetentionMs);
  while ((await feedRetention.removeEvents(oldestEvent, batchSizes.events)) === batchSizes.events);
}
