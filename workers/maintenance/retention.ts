import type { Core } from '../../src/compose.ts';
import { minIdAt, timeOfId } from '../../src/domain/ids.ts';
import { expireFeeds } from './feed-retention.ts';
import { dropPartitions, makePartitions, type PartitionCore } from './partitions.ts';

const dayMs = 24 * 60 * 60 * 1000;
const filesPerStatement = 100;
const threadsPerStatement = 20;
const messagesPerStatement = 100;

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
  if (messages !== undefined) await expireMessages(core, now - messages * dayMs);
}

/**
 * None that an event still leads to: by whole partitions, and one by one what lies in the default ones. What hangs on messages goes
 * with them: search rows, and files after.
 */
async function expireMessages(core: RetentionCore, oldest: number): Promise<void> {
  const { feedRetention, partitions, attachments } = core.repositories;
  const event = await feedRetention.findOldestEvent();
  const olderThan = minIdAt('message', Math.min(oldest, event === undefined ? oldest : timeOfId(event)));
  await dropPartitions(core, 'messages', olderThan);
  await dropPartitions(core, 'message_search', olderThan);
  await removeStrays(core, olderThan);
  const floor = (await partitions.list()).find(({ table }) => table === 'messages')?.from;
  if (!floor) return;
  const take = () => attachments.removeOrphaned(floor, filesPerStatement);
  for (let keys = await take(); keys.length > 0; keys = await take()) {
    for (const key of keys) await core.blobs.remove(key);
  }
}

/**
 * Removes old messages that lie in the default partition: a clock was far behind, or nobody made partitions for long. A thread loses its
 * beginning only: where younger messages come before them, they leave after those.
 */
async function removeStrays({ repositories, unitOfWork }: RetentionCore, olderThan: string): Promise<void> {
  const tables = new Set((await repositories.partitions.list()).map(({ table }) => table));
  if (!tables.has('messages') || !tables.has('message_search')) return;
  const shorten = (threads: readonly string[]) =>
    unitOfWork.writeAsSystem(async (work) => {
      const fronts = await work.messageRetention.removeFront(threads, olderThan, messagesPerStatement);
      await work.threadMembers.markRemovedAsRead(
        fronts.map(({ id, last }) => ({ thread_id: id, sequence: last })),
      );
      return fronts.filter(({ messages }) => messages === messagesPerStatement).map(({ id }) => id);
    });
  for (let after = '', more = true; more;) {
    const threads = await repositories.messageRetention.threads(olderThan, after, threadsPerStatement);
    for (let left = threads; left.length > 0;) left = await shorten(left);
    after = threads.at(-1) ?? after;
    more = threads.length === threadsPerStatement;
  }
}
