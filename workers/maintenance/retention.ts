import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../../src/compose.ts';
import { consumerLifeMs } from '../../packages/core/src/domain/inbox.ts';
import { minIdAt, timeOfId } from '../../packages/core/src/domain/ids.ts';
import { expireItems } from '../../src/services/inbox/expiry.ts';
import { expireFeeds } from './feed-retention.ts';
import { dropPartitions, makePartitions, type PartitionCore } from './partitions.ts';

const dayMs = 24 * 60 * 60 * 1000;
const filesPerStatement = 100;
const inboxesPerStatement = 500;
const consumersPerStatement = 1_000;
const threadsPerStatement = 20;
const messagesPerStatement = 100;
const rowsPerStatement = 1_000;

type RetentionCore = PartitionCore & Pick<Core, 'config' | 'blobs'>;

/**
 * Creates future partitions, and removes data that exceeds its retention: first feeds, then the messages that no event refers to.
 * @param now milliseconds since the epoch.
 */
export async function expireByAge(core: RetentionCore, now: number): Promise<void> {
  const { FEED_RETENTION_DAYS: feeds, MESSAGE_RETENTION_DAYS: messages } = core.config;
  await makePartitions(core, {
    now,
    retentionDays: { events: feeds, feed: feeds, messages, message_search: messages },
  });
  await expireInboxes(core, now - feeds * dayMs);
  await expireFeeds(core, { now, days: feeds });
  if (messages !== undefined) await expireMessages(core, now - messages * dayMs);
}

type InboxPage = Awaited<ReturnType<Core['db']['inboxRetention']['listOld']>>;

/** Removes the items of inboxes that the feeds are about to lose, and consumers that have not claimed for a day. */
async function expireInboxes({ db, unitOfWork }: RetentionCore, oldest: number): Promise<void> {
  const olderThan = minIdAt('event', oldest);
  let after: string | undefined = '';
  while (after !== undefined) {
    const page: InboxPage = await db.inboxRetention.listOld(after, olderThan, inboxesPerStatement);
    for (const id of page.old) await unitOfWork.write(system, (work) => expireItems(work, id, oldest));
    after = page.last;
  }
  while ((await db.inboxes.removeOldConsumers(consumerLifeMs, consumersPerStatement)) > 0);
}

/**
 * Removes old messages that no stored event refers to, with all that is known of them: whole partitions, and single rows of default
 * partitions.
 */
async function expireMessages(core: RetentionCore, oldest: number): Promise<void> {
  const { a2aMessages, feedRetention, partitions, attachments, remoteMessages } = core.db;
  const event = await feedRetention.findOldestEvent();
  const olderThan = minIdAt('message', Math.min(oldest, event === undefined ? oldest : timeOfId(event)));
  await dropPartitions(core, 'messages', olderThan);
  await dropPartitions(core, 'message_search', olderThan);
  await removeStrays(core, olderThan);
  const firstId = (await partitions.list()).find(({ table }) => table === 'messages')?.from;
  if (!firstId) return;
  while ((await a2aMessages.clearContent(firstId, rowsPerStatement)) > 0);
  while ((await remoteMessages.removeOrphaned(firstId, rowsPerStatement)) > 0);
  const removeOrphaned = () => attachments.removeOrphaned(firstId, filesPerStatement);
  for (let keys = await removeOrphaned(); keys.length > 0; keys = await removeOrphaned()) {
    for (const key of keys) await core.blobs.remove(key);
  }
}

/**
 * Removes old messages from the default partition, which holds them if a clock was wrong or partitions were missing. A thread only loses
 * its beginning: old messages after younger ones stay until those are removed.
 */
async function removeStrays({ db, unitOfWork }: RetentionCore, olderThan: string): Promise<void> {
  /** Returns the threads that have more to remove. */
  const removeFronts = (threads: readonly string[]) =>
    unitOfWork.write(system, async (work) => {
      const fronts = await work.db.messageRetention.removeFront(threads, olderThan, messagesPerStatement);
      await work.db.threadMembers.markRemovedAsRead(
        fronts.map(({ id, last }) => ({ thread_id: id, sequence: last })),
      );
      return fronts.filter(({ messages }) => messages === messagesPerStatement).map(({ id }) => id);
    });
  for (let after = '', more = true; more;) {
    const threads = await db.messageRetention.threads(olderThan, after, threadsPerStatement);
    for (let left = threads; left.length > 0;) left = await removeFronts(left);
    after = threads.at(-1) ?? after;
    more = threads.length === threadsPerStatement;
  }
}
