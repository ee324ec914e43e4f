import type { NotificationPurpose } from '../../../packages/core/src/domain/notifications.ts';
import { actedAsByPerson } from '../agents/rights.ts';
import { repository, sql } from '../sql.ts';
import type { NotificationChannelRow } from './channels.ts';

/** A message that is still to be sent. Times are in milliseconds. */
export interface NotificationMessageRow {
  /** The same for each attempt, so that the receiver can drop duplicates. */
  id: string;
  account_id: string;
  kind: NotificationChannelRow['kind'];
  purpose: NotificationPurpose;
  /** The keys of its items. */
  items: string[];
  /** The encrypted token of a confirmation. */
  token: Buffer | null;
  /** With the current one. */
  attempts: number;
  /** When the next attempt is due; the end of the lease while a worker has it. */
  next_at: number;
}

/** A message with its channel, and the username of the person. */
export type ClaimedMessage = NotificationMessageRow &
  Pick<NotificationChannelRow, 'target' | 'secret' | 'enabled'> & {
    username: string;
    page_open_until: number;
  };

const columns = 'm.id, m.account_id, m.kind, m.purpose, m.items, m.token, m.attempts, m.next_at';

const dayMs = 86_400_000;

/** Messages to people that are still to be sent, and the items that were in messages before. */
export const notificationMessagesRepository = repository({
  insert: sql.run<[message: Omit<NotificationMessageRow, 'attempts'>]>(
    'notification_messages.insert',
    `insert into notification_messages (id, account_id, kind, purpose, items, token, next_at)
       values (:id, :account_id, :kind, :purpose, :items, :token, :next_at)`,
  ),
  /** No other process gets the message for `leaseMs`. Returns undefined while another one has it, or before it is due. */
  claim: sql.row<[id: string, now: number, lease_ms: number], ClaimedMessage>(
    'notification_messages.claim(id, now, lease_ms)',
    `update notification_messages m set next_at = :now::bigint + :lease_ms::bigint, attempts = m.attempts + 1
       from notification_channels c, notification_settings s, owners o
       where m.id = :id and m.next_at <= :now and c.account_id = m.account_id and c.kind = m.kind and s.account_id = m.account_id
         and o.id = m.account_id
       returning ${columns}, c.target, c.secret, c.enabled, s.page_open_until, o.name as username`,
  ),
  remove: sql.run<[id: string]>(
    'notification_messages.remove',
    'delete from notification_messages where id = :id',
  ),
  /** Removes all messages of a channel. */
  removeOfChannel: sql.run<[fields: Pick<NotificationMessageRow, 'account_id' | 'kind'>]>(
    'notification_messages.remove_attempted',
    'delete from notification_messages where account_id = :account_id and kind = :kind',
  ),
  postpone: sql.run<[notificationMessageRow: NotificationMessageRow, next_at: number]>(
    'notification_messages.postpone(..., next_at)',
    'update notification_messages set next_at = :next_at, attempts = :attempts where id = :id',
  ),
  /** Up to `limit` messages after this id that are due at `now` (ms). */
  listDue: sql.values<[now: number, after: string, limit: number], string>(
    'notification_messages.list_due(now, after, limit)',
    'select id from notification_messages where next_at <= :now and id > :after order by id limit :limit',
  ),
  /** Records that the person was notified of these items. */
  remember: sql.run<[account_id: string, items: readonly { key: string; agent_id: string }[], now: number]>(
    'notification_items.remember',
    `insert into notification_items (account_id, item, agent_id, seen_at)
       select :account_id, i.item, i.agent_id, :now::bigint from unnest(:items::text[], :agent_ids::text[]) i (item, agent_id)
       on conflict (account_id, item) do nothing`,
    (account_id, items, now) => ({
      account_id,
      now,
      items: items.map(({ key }) => key),
      agent_ids: items.map(({ agent_id }) => agent_id),
    }),
  ),
  /** Records that these items still wait, once a day. */
  markSeen: sql.run<[account_id: string, items: readonly string[], now: number]>(
    'notification_items.mark_seen',
    `update notification_items set seen_at = :now where account_id = :account_id and item = any(:items::text[]) and seen_at < :stale`,
    (account_id, items, now) => ({ account_id, items, now, stale: now - dayMs }),
  ),
  /** Removes up to `limit` items that have not been seen to wait since a time (ms). Returns how many. */
  removeUnseen: sql.value<[before: number, limit: number], number>(
    'notification_items.remove_unseen(before, limit)',
    `with removed as (
         delete from notification_items i using (
           select account_id, item from notification_items where seen_at < :before order by seen_at limit :limit) o
         where i.account_id = o.account_id and i.item = o.item returning 1)
       select count(*)::int as count from removed`,
  ),
  /** Removes the items of agents as which a person can no longer act. */
  removeBeyondRights: sql.run<[account_id: string]>(
    'notification_items.remove_beyond_rights',
    `delete from notification_items i where i.account_id = :account_id and not exists (
         select from agents a where a.id = i.agent_id and ${actedAsByPerson(':account_id')})`,
  ),
  /** Those of these items of which the person was notified. */
  listNotified: sql.values<[account_id: string, items: readonly string[]], string>(
    'notification_items.list(account_id, items)',
    'select item from notification_items where account_id = :account_id and item = any(:items::text[])',
  ),
});
