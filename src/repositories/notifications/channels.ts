import type { NotificationChannel } from '../../../packages/core/src/domain/notifications.ts';
import { repository, sql } from '../sql.ts';

/** A way to reach a person. Times are in milliseconds. */
export interface NotificationChannelRow {
  account_id: string;
  kind: NotificationChannel;
  /** An e-mail address, or a URL. */
  target: string;
  /** The encrypted signing secret of a webhook. */
  secret: Buffer | null;
  /** False until an address is confirmed, and after the channel was turned off. */
  enabled: boolean;
  /** Until when the link that confirms the address is valid; null if no link was sent, or after it was used. */
  token_expires_at: number | null;
  /** Why it was turned off. */
  off_reason: 'failing' | 'gone' | 'unsubscribed' | null;
  last_error: string | null;
  failed_since: number | null;
  last_sent_at: number | null;
}

/** A channel as a person sets it. */
export interface NewChannel {
  account_id: string;
  kind: NotificationChannel;
  target: string;
  secret: Buffer | null;
  enabled: boolean;
  token_hash: Buffer | null;
  token_expires_at: number | null;
}

const columns =
  'account_id, kind, target, secret, enabled, token_expires_at, off_reason, last_error, failed_since, last_sent_at';

type Key = Pick<NotificationChannelRow, 'account_id' | 'kind'>;

export const notificationChannelsRepository = repository({
  list: sql.rows<[account_id: string], NotificationChannelRow>(
    'notification_channels.list',
    `select ${columns} from notification_channels where account_id = :account_id order by kind`,
  ),
  /** Removes a channel with the messages that are still to be sent. */
  remove: sql.run<[key: Key]>(
    'notification_channels.remove',
    'delete from notification_channels where account_id = :account_id and kind = :kind',
  ),
  insert: sql.run<[channel: NewChannel]>(
    'notification_channels.insert',
    `insert into notification_channels (account_id, kind, target, secret, enabled, token_hash, token_expires_at)
       values (:account_id, :kind, :target, :secret, :enabled, :token_hash, :token_expires_at)`,
  ),
  /** Turns a channel on by its link, which cannot be used again. Returns the account. */
  confirm: sql.value<[token_hash: Buffer, now: number], string | undefined>(
    'notification_channels.confirm(token_hash, now)',
    `update notification_channels set enabled = true, token_hash = null, token_expires_at = null
       where token_hash = :token_hash and token_expires_at > :now returning account_id`,
  ),
  /** Turns a channel off while it has this target. */
  turnOff: sql.run<
    [fields: Key & { target: string }, reason: NonNullable<NotificationChannelRow['off_reason']>]
  >(
    'notification_channels.turn_off(..., reason)',
    `update notification_channels set enabled = false, off_reason = :reason, token_hash = null, token_expires_at = null
       where account_id = :account_id and kind = :kind and target = :target and off_reason is null`,
  ),
  recordSent: sql.run<[key: Key, now: number]>(
    'notification_channels.record_sent(..., now)',
    `update notification_channels set last_sent_at = :now, last_error = null, failed_since = null
       where account_id = :account_id and kind = :kind`,
  ),
  /** Returns since when the channel fails (ms); undefined if it was removed. */
  recordFailure: sql.value<[key: Key, error: string, now: number], number | undefined>(
    'notification_channels.record_failure(..., error, now)',
    `update notification_channels set last_error = :error, failed_since = coalesce(failed_since, :now)
       where account_id = :account_id and kind = :kind returning failed_since`,
  ),
  /** The address that a link confirms, and the username of its person. Undefined if the link is not valid at `now` (ms). */
  findByToken: sql.row<
    [token_hash: Buffer, now: number],
    { account_id: string; target: string; username: string }
  >(
    'notification_channels.find_by_token(token_hash, now)',
    `select c.account_id, c.target, o.name as username from notification_channels c join owners o on o.id = c.account_id
       where c.token_hash = :token_hash and c.token_expires_at > :now`,
  ),
});
