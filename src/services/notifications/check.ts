import type { NotificationSettingsRow } from '../../repositories/notifications/settings.ts';
import type { NotificationChannelRow } from '../../repositories/notifications/channels.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import {
  nextDigestAt,
  type NotificationPacing,
  type WaitingItem,
} from '../../../packages/core/src/domain/notifications.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { readWaitingItems } from './waiting-items.ts';

export interface CheckResult {
  /** New messages, for the queue. */
  messages: string[];
  /** When the person is due again (ms); undefined while no channel is on. */
  due: number | undefined;
}

/**
 * Looks at the pending items of a person who is due, and stores a message for each channel about the items that were in no message yet. Waits until the items of
 * one minute are gathered, and until no page with browser notifications is open. The row of the settings is locked, so each item is in one message of each channel.
 */
export async function checkWaiting(
  work: ReadWork,
  account_id: string,
  { now, pacing }: { now: number; pacing: NotificationPacing },
): Promise<CheckResult> {
  const settings = await work.db.notificationSettings.lock(account_id);
  if (!settings || settings.due_at === null) return { messages: [], due: undefined };
  if (settings.due_at > now) return { messages: [], due: settings.due_at };
  const channels = (await work.db.notificationChannels.list(account_id)).filter(({ enabled }) => enabled);
  if (channels.length === 0) {
    await work.db.notificationSettings.save({ ...settings, due_at: null });
    return { messages: [], due: undefined };
  }
  const isDigest = settings.timing === 'daily';
  const again = isDigest ? nextDigestAt(now, settings) : now + pacing.recheckMs;
  const items = await readNewItems(work, account_id, now);
  const sendAt = items.length === 0 ? now : findSendTime(settings, items, pacing);
  const messages = sendAt > now ? [] : await storeMessages(work, { settings, channels, items, now });
  const due = sendAt > now ? sendAt : again;
  const digest_after = isDigest && sendAt <= now ? now : settings.digest_after;
  await work.db.notificationSettings.save({ ...settings, digest_after, due_at: due });
  return { messages, due };
}

async function readNewItems(work: ReadWork, account_id: string, now: number): Promise<WaitingItem[]> {
  const items = await readWaitingItems(work, account_id);
  const keys = items.map(({ key }) => key);
  const notified = await work.db.notificationMessages.listNotified(account_id, keys);
  if (notified.length > 0) await work.db.notificationMessages.markSeen(account_id, notified, now);
  return items.filter(({ key }) => !notified.includes(key));
}

/** @param items oldest first. */
function findSendTime(
  { timing, page_open_until }: NotificationSettingsRow,
  [oldest]: readonly WaitingItem[],
  { gatherMs }: NotificationPacing,
): number {
  const gathered = timing === 'daily' ? 0 : (oldest?.since ?? 0) + gatherMs;
  return Math.max(gathered, page_open_until);
}

interface Batch {
  settings: NotificationSettingsRow;
  channels: readonly NotificationChannelRow[];
  items: readonly WaitingItem[];
  now: number;
}

async function storeMessages(
  work: ReadWork,
  { settings: { account_id }, channels, items, now }: Batch,
): Promise<string[]> {
  if (items.length === 0) return [];
  const messages = channels.map(({ kind }) => ({ id: newId('notification'), account_id, kind }));
  const content = {
    purpose: 'items' as const,
    items: items.map(({ key }) => key),
    token: null,
    next_at: now,
  };
  await Promise.all(
    messages.map((message) => work.db.notificationMessages.insert({ ...message, ...content })),
  );
  await work.db.notificationMessages.remember(account_id, items, now);
  return messages.map(({ id }) => id);
}
