import type { NotificationPacing, WaitingItem } from '../packages/core/src/domain/notifications.ts';
import { system } from '../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../src/compose.ts';
import { isDelivered } from '../packages/core/src/domain/outbound.ts';
import {
  presentConfirmationMail,
  presentItemsMail,
  presentNotification,
  presentTestMail,
} from '../packages/core/src/records/notification.ts';
import { toUnsubscribeKey } from '../src/services/notifications/settings.ts';
import { readWaitingItems } from '../src/services/notifications/waiting-items.ts';
import { signHeaders } from '../src/services/webhooks/secrets.ts';

type Messages = Core['db']['notificationMessages'];
type Message = NonNullable<Awaited<ReturnType<Messages['claim']>>>;

/** Why an attempt failed. `isFinal`: the message is not sent again. `isGone`: the receiver wants no more messages. */
interface Failure {
  error: string;
  isFinal?: boolean;
  isGone?: boolean;
}

interface Timing {
  pacing: NotificationPacing;
  now(): number;
}

/**
 * Returns a function that sends a message which is due. The message is leased before and removed after, so a worker that dies between sends it again, with
 * the same id. Items that were answered meanwhile are left out; a message without items is not sent.
 */
export function createNotificationSender(core: Core, { pacing, now }: Timing) {
  const { notificationMessages } = core.db;

  return async function send(id: string): Promise<void> {
    const message = await notificationMessages.claim(id, now(), pacing.leaseMs);
    if (!message) return;
    const { purpose, enabled, page_open_until } = message;
    // Workers that died have used up the attempts.
    const isOver = message.attempts > pacing.scheduleMs.length;
    const isWanted = !isOver && (purpose === 'confirmation' ? !enabled : enabled);
    const items = isWanted && purpose === 'items' ? await readOpenItems(core, message) : [];
    if (!isWanted || (purpose === 'items' && items.length === 0)) return notificationMessages.remove(id);
    if (purpose === 'items' && page_open_until > now())
      return notificationMessages.postpone({ ...message, attempts: message.attempts - 1 }, page_open_until);
    const failure = await attempt(core, message, items, now());
    core.metrics.notifications.inc({ channel: message.kind, outcome: failure ? 'failed' : 'sent' });
    await settle(core, message, failure, { pacing, now });
  };
}

async function readOpenItems({ unitOfWork }: Core, { account_id, items }: Message): Promise<WaitingItem[]> {
  const wanted = new Set(items);
  const waiting = await unitOfWork.read(system, (work) => readWaitingItems(work, account_id));
  return waiting.filter(({ key }) => wanted.has(key));
}

function attempt(
  core: Core,
  message: Message,
  items: WaitingItem[],
  now: number,
): Promise<Failure | undefined> {
  return message.kind === 'email' ? sendMail(core, message, items, now) : post(core, message, items, now);
}

async function sendMail(
  { mailer, settings, config }: Core,
  message: Message,
  items: WaitingItem[],
  now: number,
): Promise<Failure | undefined> {
  if (!mailer) return { error: 'this service sends no e-mail' };
  const { id, account_id, target, username, purpose, token } = message;
  const { PUBLIC_URL: public_url } = config;
  if (purpose === 'confirmation') {
    const opened = token && openSealed(settings.sealedBox, token, id);
    if (opened === null) return { error: 'the link cannot be read; enter the address again', isFinal: true };
    const link = `${public_url}/notifications/confirm/${opened}`;
    return mailer.send({ to: target, id, ...presentConfirmationMail({ public_url, username, link }) });
  }
  const key = toUnsubscribeKey({ settings }, { account_id, email: target });
  const unsubscribe = `${public_url}/notifications/unsubscribe/${key}`;
  const context = { public_url, now, username, unsubscribe };
  const content = purpose === 'test' ? presentTestMail(context) : presentItemsMail(items, context);
  return mailer.send({ to: target, id, unsubscribe, ...content });
}

/** Returns null if SECRET_KEY has changed. */
function openSealed(box: Core['settings']['sealedBox'], sealed: Buffer, about: string): string | null {
  try {
    return box.open(sealed, about);
  } catch {
    return null;
  }
}

async function post(
  { settings: { webhookSender, sealedBox }, config }: Core,
  { id, account_id, target, secret, purpose }: Message,
  items: WaitingItem[],
  now: number,
): Promise<Failure | undefined> {
  if (!secret || openSealed(sealedBox, secret, account_id) === null)
    return { error: 'the signing secret cannot be read; save the URL again', isFinal: true };
  const context = { public_url: config.PUBLIC_URL, now };
  const body = JSON.stringify(presentNotification(purpose === 'test' ? 'test' : 'items', items, context));
  const keys = { id: account_id, secret, previous_secret: null, previous_secret_until: null };
  const headers = signHeaders(sealedBox, keys, { event_id: id, body, now });
  const response = await webhookSender.send({ url: target, headers, body });
  if (isDelivered(response)) return undefined;
  const error = response.error ?? `the receiver answered with status ${response.status}`;
  return { error, isGone: response.status === 410 };
}

/** Records the result: the message is removed, or due again later. A channel that fails for too long is turned off. */
async function settle(
  { unitOfWork, logger }: Core,
  message: Message,
  failure: Failure | undefined,
  { pacing, now }: Timing,
): Promise<void> {
  const { id, purpose, attempts } = message;
  const time = now();
  await unitOfWork.write(system, async (work) => {
    const {
      db: { notificationChannels, notificationMessages },
    } = work;
    if (!failure) {
      await notificationChannels.recordSent(message, time);
      return notificationMessages.remove(id);
    }
    logger.info({ notification: id, channel: message.kind, error: failure.error }, 'notification not sent');
    const failedSince = await notificationChannels.recordFailure(message, failure.error, time);
    const delay = pacing.scheduleMs[attempts];
    const isLast = failure.isFinal === true || purpose === 'test' || delay === undefined;
    // There can have been no attempt for days, so some attempts of this message must have failed too, for half an hour or to the last one.
    const isLasting = failure.isFinal === true || attempts >= Math.min(4, pacing.scheduleMs.length);
    const isFailing = isLasting && time - (failedSince ?? time) >= pacing.offAfterMs;
    if (failure.isGone === true || isFailing) {
      await notificationChannels.turnOff(message, failure.isGone === true ? 'gone' : 'failing');
      return notificationMessages.removeOfChannel(message);
    }
    return isLast ? notificationMessages.remove(id) : notificationMessages.postpone(message, time + delay);
  });
}
