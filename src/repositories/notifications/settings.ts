import type { NotificationTiming } from '../../../packages/core/src/domain/notifications.ts';
import { actedAsByPerson } from '../agents/rights.ts';
import { repository, sql } from '../sql.ts';

/** The notification settings of a person. Times are in milliseconds. */
export interface NotificationSettingsRow {
  account_id: string;
  /** Whether open pages show notifications of the browser. */
  browser: boolean;
  timing: NotificationTiming;
  /** Of the daily message. */
  hour: number;
  /** Null until the person chose one. */
  time_zone: string | null;
  /** When the last digest was due, or the timing was set. */
  digest_after: number;
  /** When a worker looks at the pending items; null while no channel is on. */
  due_at: number | null;
  /** Until when a page with browser notifications counts as open. */
  page_open_until: number;
}

const columns = 'account_id, browser, timing, hour, time_zone, digest_after, due_at, page_open_until';

/** When and how people are notified. A person without a row gets no notifications. */
export const notificationSettingsRepository = repository(
  {
    /** Stores everything but the lease of open pages. */
    save: sql.run<[row: NotificationSettingsRow]>(
      'notification_settings.save',
      `update notification_settings set browser = :browser, timing = :timing, hour = :hour, time_zone = :time_zone,
         digest_after = :digest_after, due_at = :due_at where account_id = :account_id`,
    ),
    /** Records that a page with browser notifications is open until a time (ms). */
    openPage: sql.run<[account_id: string, until: number]>(
      'notification_settings.open_page(account_id, until)',
      `update notification_settings set page_open_until = greatest(page_open_until, :until) where account_id = :account_id and browser`,
    ),
    /**
     * Makes the people who may act as these agents, or as members of these threads, due at a time (ms), unless they are due earlier.
     * Leaves out those who get a daily message. The owner of an agent is a person, or an organization whose members may act as the agent.
     * @returns their accounts.
     */
    notice: sql.values<[subjects: readonly string[], due: number], string>(
      'notification_settings.notice(subjects, due)',
      `with noticed as materialized (
         select id, owner_id from agents where id = any(:subjects::text[])
         union select a.id, a.owner_id from thread_members m join agents a on a.id = m.agent_id where m.thread_id = any(:subjects::text[])
       ), person as materialized (
         select owner_id as account_id, id from noticed
         union select m.account_id, n.id from noticed n join organization_members m on m.organization_id = n.owner_id
       )
       update notification_settings s set due_at = :due
       where s.due_at > :due and s.timing = 'at_once' and exists (
         select from person p join agents a on a.id = p.id where p.account_id = s.account_id and ${actedAsByPerson('p.account_id')})
         and s.account_id in (select account_id from person)
       returning s.account_id`,
    ),
    /** Up to `limit` accounts after this one that are due at `now` (ms). */
    listDue: sql.values<[now: number, after: string, limit: number], string>(
      'notification_settings.list_due(now, after, limit)',
      'select account_id from notification_settings where due_at <= :now and account_id > :after order by account_id limit :limit',
    ),
    find: sql.row<[account_id: string], NotificationSettingsRow>(
      'notification_settings.find',
      `select ${columns} from notification_settings where account_id = :account_id`,
    ),
    /** As find, and locks the row until the transaction ends. */
    lock: sql.row<[account_id: string], NotificationSettingsRow>(
      'notification_settings.lock',
      `select ${columns} from notification_settings where account_id = :account_id for update`,
    ),
    create: sql.run<[account_id: string, now: number]>(
      'notification_settings.create(account_id, now)',
      'insert into notification_settings (account_id, digest_after) values (:account_id, :now) on conflict do nothing',
    ),
  },
  (_db, { create, lock }) => ({
    /** Creates the row if it is missing, and locks it until the transaction ends. */
    async open(account_id: string, now: number): Promise<NotificationSettingsRow> {
      await create(account_id, now);
      const row = await lock(account_id);
      if (!row) throw new Error('the settings were not created');
      return row;
    },
  }),
);
