import type { NotificationSettingsRow } from '../../repositories/notifications/settings.ts';
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import {
  confirmationLifeMs,
  isTimeZone,
  nextDigestAt,
  type NotificationChannel,
  notificationTimings,
  type NotificationTiming,
  pageLease,
  toNoticeJob,
} from '../../../packages/core/src/domain/notifications.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { createWebhookSecret } from '../webhooks/secrets.ts';

export type NotificationSettings = Awaited<ReturnType<typeof readNotificationSettings>>;

const maxAddressLength = 254;
const maxUrlLength = 2_048;

/** Returns the notification settings of a person with the channels; all are off while none were set. */
export async function readNotificationSettings(
  { db: { notificationSettings, notificationChannels } }: ReadWork,
  account_id: string,
) {
  const [row, channels] = await Promise.all([
    notificationSettings.find(account_id),
    notificationChannels.list(account_id),
  ]);
  const channelOf = (kind: NotificationChannel) => channels.find((channel) => channel.kind === kind);
  return {
    browser: row?.browser ?? false,
    timing: row?.timing ?? ('at_once' as const),
    hour: row?.hour ?? 9,
    time_zone: row?.time_zone ?? null,
    email: channelOf('email'),
    webhook: channelOf('webhook'),
  };
}

/** Returns whether open pages show notifications of the browser to this person. */
export async function hasBrowserNotifications(
  { db: { notificationSettings } }: ReadWork,
  account_id: string,
): Promise<boolean> {
  return (await notificationSettings.find(account_id))?.browser ?? false;
}

/** Turns notifications of the browser on or off, for all browsers that permit them. */
export async function setBrowserNotifications(
  { db: { notificationSettings }, now }: SystemWork,
  account_id: string,
  browser: boolean,
): Promise<void> {
  await notificationSettings.save({ ...(await notificationSettings.open(account_id, now)), browser });
}

/** Records that a page which shows notifications of the browser is open: messages wait until it is closed. */
export async function renewPageLease(
  { db: { notificationSettings }, now }: SystemWork,
  account_id: string,
): Promise<void> {
  await notificationSettings.openPage(account_id, now + pageLease.openMs);
}

/**
 * Sets when messages are sent.
 * @throws {DomainError} VALIDATION_ERROR
 */
export async function setNotificationTiming(
  work: SystemWork,
  account_id: string,
  { timing, hour, time_zone }: { timing: string; hour: number; time_zone: string },
): Promise<void> {
  if (!isTiming(timing)) throw wrongField('timing', 'must be at_once or daily');
  if (!Number.isInteger(hour) || hour < 0 || hour > 23) throw wrongField('hour', 'must be from 0 to 23');
  if (!isTimeZone(time_zone))
    throw wrongField('time_zone', 'must be a time zone, such as Europe/Berlin or +05:30');
  const row = await work.db.notificationSettings.open(account_id, work.now);
  await saveDue(work, { ...row, timing, hour, time_zone, digest_after: work.now });
}

function isTiming(text: string): text is NotificationTiming {
  return notificationTimings.some((timing) => timing === text);
}

/** Stores the settings. A worker looks at once at the pending items, if a channel is on and the person wants no digest. */
async function saveDue(
  { db: { notificationSettings, notificationChannels }, changes: { enqueue }, now }: SystemWork,
  row: NotificationSettingsRow,
) {
  const channels = await notificationChannels.list(row.account_id);
  const due = row.timing === 'daily' ? nextDigestAt(row.digest_after, row) : now;
  const due_at = channels.some(({ enabled }) => enabled) ? due : null;
  await notificationSettings.save({ ...row, due_at });
  if (due_at === now) enqueue(toNoticeJob(row.account_id, newId('notification')));
}

/** @throws {DomainError} VALIDATION_ERROR unless the text is one e-mail address */
export function requireAddress(text: string): void {
  if (text.length > maxAddressLength || !z.email().safeParse(text).success)
    throw wrongField('email', 'must be an e-mail address, such as ada@example.com');
}

/**
 * Sets the address for e-mail, which is off until the person opens the link that is sent there.
 * @throws {DomainError} VALIDATION_ERROR
 */
export async function setNotificationAddress(
  work: SystemWork,
  account_id: string,
  address: string,
): Promise<void> {
  requireAddress(address);
  const row = await work.db.notificationSettings.open(account_id, work.now);
  const key = { account_id, kind: 'email' } as const;
  await work.db.notificationChannels.remove(key);
  const token = randomBytes(32).toString('base64url');
  await work.db.notificationChannels.insert({
    ...key,
    target: address,
    secret: null,
    enabled: false,
    token_hash: hashToken(token),
    token_expires_at: work.now + confirmationLifeMs,
  });
  await saveDue(work, row);
  const id = newId('notification');
  const sealed = work.settings.sealedBox.seal(token, id);
  const message = {
    ...key,
    id,
    purpose: 'confirmation' as const,
    items: [],
    token: sealed,
    next_at: work.now,
  };
  await work.db.notificationMessages.insert(message);
  work.changes.enqueue(toNoticeJob(id, 'confirmation'));
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns the address and the username that a link confirms; undefined if it is invalid, was used, or has expired. */
export function findConfirmation({ db: { notificationChannels } }: ReadWork, token: string) {
  return notificationChannels.findByToken(hashToken(token), Date.now());
}

/** Turns e-mail on by the link that was sent to the address. Returns false if the link is invalid, was used, or has expired. */
export async function confirmAddress(work: SystemWork, token: string): Promise<boolean> {
  const account_id = await work.db.notificationChannels.confirm(hashToken(token), work.now);
  if (account_id === undefined) return false;
  await saveDue(work, await work.db.notificationSettings.open(account_id, work.now));
  return true;
}

/**
 * Sets the URL to which notifications are posted.
 * @returns the signing secret, which cannot be shown again.
 * @throws {DomainError} VALIDATION_ERROR
 */
export async function setNotificationWebhook(
  work: SystemWork,
  account_id: string,
  url: string,
): Promise<string> {
  const error = url.length > maxUrlLength ? 'is too long' : work.settings.webhookSender.checkUrl(url);
  if (error !== undefined) throw wrongField('url', error);
  const row = await work.db.notificationSettings.open(account_id, work.now);
  const key = { account_id, kind: 'webhook' } as const;
  const { secret, sealed } = createWebhookSecret(work.settings.sealedBox, account_id);
  await work.db.notificationChannels.remove(key);
  const confirmed = { enabled: true, token_hash: null, token_expires_at: null };
  await work.db.notificationChannels.insert({ ...key, target: url, secret: sealed, ...confirmed });
  await saveDue(work, row);
  return secret;
}

/** Removes a channel of a person with the messages that are still to be sent. */
export async function removeChannel(
  work: SystemWork,
  account_id: string,
  kind: NotificationChannel,
): Promise<void> {
  const row = await work.db.notificationSettings.lock(account_id);
  if (!row) return;
  await work.db.notificationChannels.remove({ account_id, kind });
  await saveDue(work, row);
}

/**
 * Sends a test message through a channel.
 * @returns whether the channel is on.
 */
export async function sendTestNotification(
  work: SystemWork,
  account_id: string,
  kind: NotificationChannel,
): Promise<boolean> {
  const channels = await work.db.notificationChannels.list(account_id);
  if (!channels.some((channel) => channel.kind === kind && channel.enabled)) return false;
  const id = newId('notification');
  const message = {
    id,
    account_id,
    kind,
    purpose: 'test' as const,
    items: [],
    token: null,
    next_at: work.now,
  };
  await work.db.notificationMessages.insert(message);
  work.changes.enqueue(toNoticeJob(id, 'test'));
  return true;
}

const unsubscribeContext = 'notification unsubscribe link';
const unsubscribeLink = z.object({ account_id: z.string(), email: z.string() });

/** Returns the part of an unsubscribe link that names the person and the address. Others can neither read nor forge it. */
export function toUnsubscribeKey(
  { settings: { sealedBox } }: Pick<ReadWork, 'settings'>,
  link: z.infer<typeof unsubscribeLink>,
): string {
  return sealedBox.seal(JSON.stringify(link), unsubscribeContext).toString('base64url');
}

/** Returns what an unsubscribe link names; undefined if this service did not make it. */
export function readUnsubscribeKey({ settings: { sealedBox } }: Pick<ReadWork, 'settings'>, key: string) {
  try {
    return unsubscribeLink.parse(
      JSON.parse(sealedBox.open(Buffer.from(key, 'base64url'), unsubscribeContext)),
    );
  } catch {
    return undefined;
  }
}

/** Turns e-mail off by a link, while the person has this address. Repeating it changes nothing. */
export async function unsubscribe(
  work: SystemWork,
  { account_id, email }: z.infer<typeof unsubscribeLink>,
): Promise<void> {
  const row = await work.db.notificationSettings.lock(account_id);
  if (!row) return;
  await work.db.notificationChannels.turnOff({ account_id, kind: 'email', target: email }, 'unsubscribed');
  await saveDue(work, row);
}
