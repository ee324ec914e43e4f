import type { Core } from '../src/compose.ts';
import { lowestIdAt, timeOfId } from '../src/domain/ids.ts';
import { expireFeeds } from './feed-retention.ts';
import { dropPartitions, makePartitions, type PartitionCore } from './partitions.ts';

const day = 24 * 60 * 60 * 1000;
const filesAtOnce = 100;

type RetentionCore = PartitionCore & Pick<Core, 'config' | 'blobs'>;

/**
 * Makes partitions ahead, and removes what is kept for longer than the settings say. Feeds and messages are one task, under the
 * name that releases before this one know: a worker fails a task that it has never heard of.
 * @param now milliseconds since the epoch.
 */
export async function expireByAge(core: RetentionCore, now: number): Promise<void> {
  const { FEED_RETENTION_DAYS: feeds, MESSAGE_RETENTION_DAYS: messages } = core.config;
  await makePartitions(core, {
    now,
    kept: { events: feeds, feed: feeds, messages, message_search: messages },
  });
  await expireFeeds(core, { now, days: feeds });
  if (messages !== undefined) await expireMessages(core, now - messages * day);
}

/** Whole partitions only, and none that an event still leads to. What hangs on messages goes with them: search rows, and files after. */
async function expireMessages(core: RetentionCore, oldest: number): Promise<void> {
  const { feedRetention, partitions, attachments } = core.repositories;
  const event = await feedRetention.oldestEvent();
  const olderThan = lowestIdAt('message', Math.min(oldest, event === undefined ? oldest : timeOfId(event)));
  await dropPartitions(core, 'messages', olderThan);
  await dropPartitions(core, 'message_search', olderThan);
  const floor = (await partitions.list()).find(({ table }) => table === 'messages')?.from;
  if (!floor) return;
  const take = () => attachments.removeOrphaned(floor, filesAtOnce);
  for (let keys = await take(); keys.length > 0; keys = await take()) {
    for (const key of keys) await core.blobs.remove(key);
  }
}
