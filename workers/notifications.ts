import { system } from '../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../src/compose.ts';
import { isId } from '../packages/core/src/domain/ids.ts';
import {
  defaultNotificationPacing,
  type NotificationPacing,
  readNoticeSubjects,
} from '../packages/core/src/domain/notifications.ts';
import {
  createCheckJob,
  createSendingJob,
  notificationCheck,
  notificationSending,
} from '../src/jobs/notifications.ts';
import { maintenanceTasks } from '../src/jobs/maintenance.ts';
import { noticing } from '../src/jobs/outbox-jobs.ts';
import { checkWaiting } from '../src/services/notifications/check.ts';
import type { JobHandler } from './consume-queues.ts';
import { createNotificationSender } from './notification-sender.ts';

/** What tests change in the notifications of a worker. */
export interface NotificationOptions {
  pacing: NotificationPacing;
  /** Milliseconds between two searches for messages that are due and in no queue. */
  sweepMs: number;
  /** Milliseconds since the epoch. */
  now(): number;
}

export const defaultNotifications: NotificationOptions = {
  pacing: defaultNotificationPacing,
  sweepMs: maintenanceTasks['sweep-notifications'],
  now: Date.now,
};

const isAccount = (id: string) => isId('account', id);
const isMessage = (id: string) => isId('notification', id);

/**
 * Returns the handlers of notifications: one enqueues what has changed for a person, one stores the messages of a person who is due, and one sends a
 * message. Rows say what is due, so a lost job is repaired by the sweep, and a job that runs twice finds nothing to do.
 */
export function notificationHandlers(core: Core, { pacing, now }: Omit<NotificationOptions, 'sweepMs'>) {
  const { db, queues, unitOfWork } = core;
  const send = createNotificationSender(core, { pacing, now });

  const notice: JobHandler<{ ids: string[] }> = {
    contract: noticing,
    async handle({ ids }) {
      const time = now();
      const due = time + pacing.gatherMs;
      const subjects = readNoticeSubjects(ids);
      const accounts = await db.notificationSettings.notice(subjects, due);
      await queues.enqueue([
        ...accounts.map((id) => createCheckJob(id, { due, now: time })),
        ...subjects.filter(isAccount).map((id) => createCheckJob(id, { due: time, now: time })),
        ...subjects.filter(isMessage).map((id) => createSendingJob(id, { due: time, now: time })),
      ]);
      await db.outbox.complete(noticing.name, ids);
    },
  };
  const check: JobHandler<{ account_id: string }> = {
    contract: notificationCheck,
    async handle({ account_id }) {
      const time = now();
      const { messages, due } = await unitOfWork.write(system, (work) =>
        checkWaiting(work, account_id, { now: time, pacing }),
      );
      // The sweep finds people who are due later.
      const isSoon = due !== undefined && due - time < pacing.recheckMs;
      await queues.enqueue([
        ...messages.map((id) => createSendingJob(id, { due: time, now: time })),
        ...(isSoon ? [createCheckJob(account_id, { due, now: time })] : []),
      ]);
    },
  };
  const sending: JobHandler<{ message_id: string }> = {
    contract: notificationSending,
    handle: ({ message_id }) => send(message_id),
  };
  return [notice, check, sending];
}
