import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../../src/compose.ts';
import { mcpSessionLifetimeMs } from '../../packages/core/src/domain/limits.ts';
import { minIdAt } from '../../packages/core/src/domain/ids.ts';
import { itemMemoryMs } from '../../packages/core/src/domain/notifications.ts';
import { expectedReplyLifeMs } from '../../packages/core/src/domain/threads.ts';
import { firstUsageDay } from '../../packages/core/src/domain/usage.ts';
import { endedWatchLinkMs } from '../../packages/core/src/domain/watching.ts';
import { defaultPacing, type WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import { outboxJobs, packJobs } from '../../src/jobs/outbox-jobs.ts';
import { maintenance, type MaintenanceTask, maintenanceTasks } from '../../src/jobs/maintenance.ts';
import { createCheckJob, createSendingJob } from '../../src/jobs/notifications.ts';
import { createPostingJob } from '../../src/jobs/posting.ts';
import { createWebhookJob } from '../../src/jobs/webhooks.ts';
import { expireExports, expireUploads, sweepBlobs } from './file-retention.ts';
import { expireByAge } from './retention.ts';
import { applyDecisions } from '../../src/services/approvals/stored-decisions.ts';
import { endExpiredLeases } from '../../src/services/inbox/end-leases.ts';
import { moveHandledMarks } from '../../src/services/inbox/handled.ts';
import { removeUnconfirmed } from '../../src/services/remote/agents.ts';
import { sweepTasks } from '../../src/services/tasks/transitions.ts';
import { endExpiredWatchLinks, endLostWatchLinks } from '../../src/services/threads/watch-links.ts';
import type { JobHandler } from '../consume-queues.ts';

const dayMs = 24 * 60 * 60 * 1000;
const batchSize = 1_000;
const tasksPerWrite = 100;
const linksPerWrite = 20;
const linksPerCheck = 200;
const idleClientLifeMs = 30 * dayMs;
const approvalLifeMs = 30 * dayMs;
const deliveryLifeMs = 30 * dayMs;
/** Longer than a process takes to move a handled mark. */
const handledMarkGraceMs = 5_000;
const notificationSweepMs = 30_000;
const sweepDelay = { first: 10_000, max: 3_600_000 };

/** Repeats in small batches until nothing is left, so that no statement holds many rows for long. */
async function drain(next: (limit: number) => Promise<number>): Promise<void> {
  while ((await next(batchSize)) === batchSize);
}

type ListDue = (time: number, after: string, limit: number) => Promise<string[]>;
type ListIds = (after: string, limit: number) => Promise<string[]>;

/** As `drain`, for rows that stay where they are: each batch comes after the last id of the one before. */
async function forEachBatch(list: ListIds, handle: (ids: string[]) => Promise<void>): Promise<void> {
  let last = '';
  await drain(async (limit) => {
    const ids = await list(last, limit);
    await handle(ids);
    last = ids.at(-1) ?? last;
    return ids.length;
  });
}

/** The period of the loop limit, in milliseconds. */
function exchangePeriodMs(limits: Core['config']['RATE_LIMITS']): number {
  return limits === 'off' ? 0 : limits.loop.seconds * 1_000;
}

/** Returns the handler of the maintenance tasks. Every task can run concurrently with itself and be killed at any point. */
export function maintenanceHandler(
  core: Core,
  pacing: Pick<WebhookPacing, 'graceMs'> = defaultPacing,
  now: () => number = Date.now,
): JobHandler<{ task: string }> {
  const { config, db, unitOfWork, logger, clock } = core;
  const { idempotencyKeys, tokens, streamTickets, mcpSessions, rateLimits } = db;
  const { oauthRecords, clientGrants, oauthClients, auditLog, membershipInvitations } = db;
  const { sessions, externalSignIns, approvals, presence, exchanges, usage, webhookDeliveries, workerNodes } =
    db;

  const tasks: Record<MaintenanceTask, () => Promise<void>> = {
    'sweep-outbox': () => sweepOutbox(core),
    'apply-decisions': () => applyStoredDecisions(core, now()),
    /** Those that no process has moved. */
    'move-handled-marks': () => moveHandledMarks(unitOfWork, null, handledMarkGraceMs),
    'sweep-webhooks': () => sweepWebhooks(core, pacing.graceMs),
    'sweep-notifications': () => sweepNotifications(core, now()),
    'expire-idempotency-keys': () =>
      drain((limit) => idempotencyKeys.removeBefore(Date.now() - dayMs, limit)),
    async 'expire-tokens'() {
      await drain((limit) => tokens.removeExpired(clock.now(), limit));
      await drain((limit) => streamTickets.removeExpired(clock.now(), limit));
      await drain((limit) => oauthRecords.removeExpired(clock.now(), limit));
      await drain((limit) => clientGrants.removeExpired(clock.now(), limit));
      await drain((limit) => oauthClients.removeUnused(Date.now() - idleClientLifeMs, limit));
    },
    'expire-mcp-sessions': () =>
      drain((limit) => mcpSessions.removeBefore(Date.now() - mcpSessionLifetimeMs, limit)),
    'expire-rate-limits': () => drain((limit) => rateLimits.removeExpired(limit)),
    'expire-notifications': () =>
      drain((limit) => db.notificationMessages.removeUnseen(Date.now() - itemMemoryMs, limit)),
    async 'expire-sessions'() {
      await drain((limit) => sessions.removeExpired(Date.now(), limit));
      await drain((limit) => externalSignIns.removeExpired(Date.now(), limit));
      await drain((limit) => membershipInvitations.removeExpired(Date.now(), limit));
    },
    'expire-approvals': () => drain((limit) => approvals.removeExpired(Date.now() - approvalLifeMs, limit)),
    'expire-feeds': () => expireByAge(core, Date.now()),
    'expire-exchanges': () =>
      drain((limit) => exchanges.removeBefore(Date.now() - exchangePeriodMs(config.RATE_LIMITS), limit)),
    'expire-webhook-deliveries': () =>
      drain((limit) => webhookDeliveries.removeBefore(Date.now() - deliveryLifeMs, limit)),
    async 'expire-audit-log'() {
      const oldest = minIdAt('audit', Date.now() - config.AUDIT_RETENTION_DAYS * dayMs);
      await drain((limit) => auditLog.removeBefore(oldest, limit));
    },
    'expire-usage': () => drain((limit) => usage.removeBefore(firstUsageDay(Date.now()), limit)),
    async 'expire-presence'() {
      await drain((limit) => presence.removeDead(limit));
      await workerNodes.removeDead();
    },
    'end-leases': () => endExpiredLeasesOfAll(core),
    async 'sweep-tasks'() {
      while (await unitOfWork.write(system, (work) => sweepTasks(work, tasksPerWrite)));
      await drain((limit) => db.tasks.removeExpired(now(), limit));
      await drain((limit) => db.expectedReplies.removeBefore(now() - expectedReplyLifeMs, limit));
    },
    'end-watch-links': createWatchLinkTask(core),
    'expire-remote-agents': () => removeUnconfirmedAgents(core, now()),
    'expire-uploads': () => expireUploads(core),
    'expire-exports': () => expireExports(core),
    'sweep-blobs': () => sweepBlobs(core),
  };

  return {
    contract: maintenance,
    async handle({ task }) {
      if (isKnown(task)) await tasks[task]();
      else logger.warn({ task }, 'unknown maintenance task skipped: another release enqueued it');
    },
  };
}

/** Enqueues overdue outbox jobs again: after a crash, a flushed queue, or a failed handler. */
async function sweepOutbox({ clock, db, logger, queues }: Core): Promise<void> {
  const names = Object.keys(outboxJobs);
  let last = { job: '', subject_id: '' };
  await drain(async (limit) => {
    const due = await db.outbox.claimDue({ ...last, ...sweepDelay, names, now: clock.now(), limit });
    if (due.length > 0) logger.info({ jobs: due.length }, 'overdue outbox jobs enqueued again');
    await queues.enqueue(packJobs(due), { retryFailed: true });
    last = due.at(-1) ?? last;
    return due.length;
  });
}

/** The rows are authoritative: a decision is late while no worker runs, and never lost. */
async function applyStoredDecisions({ unitOfWork, logger }: Core, now: number): Promise<void> {
  for (const err of await applyDecisions(unitOfWork, now))
    logger.warn({ err }, 'a decision was not carried out; it is tried again');
}

const isKnown = (task: string): task is MaintenanceTask => Object.hasOwn(maintenanceTasks, task);

/** Ends the leases that have expired where no instance claims any more: dead items are announced. */
async function endExpiredLeasesOfAll({ db, unitOfWork }: Core): Promise<void> {
  await forEachBatch(db.inboxClaims.listAgentsWithExpired, async (agents) => {
    for (const id of agents) await unitOfWork.write(system, (work) => endExpiredLeases(work, id));
  });
}

/** Returns what tells members of watch links that work no more, and removes those that ended long ago. Each run checks the rights of some. */
function createWatchLinkTask({ db, unitOfWork }: Core): () => Promise<void> {
  let last = '';
  return async () => {
    while ((await unitOfWork.write(system, (work) => endExpiredWatchLinks(work, linksPerWrite))) > 0);
    last = await unitOfWork.write(system, (work) => endLostWatchLinks(work, last, linksPerCheck));
    await drain((limit) => db.watchLinks.removeEnded(Date.now() - endedWatchLinkMs, limit));
  };
}

/** Removes the agents of other systems that no person has confirmed in time. */
async function removeUnconfirmedAgents({ db, unitOfWork }: Core, now: number): Promise<void> {
  await drain(async (limit) => {
    const expired = await db.remoteAgents.listExpired(now, limit);
    for (const id of expired) await unitOfWork.write(system, (work) => removeUnconfirmed(work, id, now));
    return expired.length;
  });
  await drain((limit) => db.remoteInvitations.removeExpired(now, limit));
}

/** Enqueues webhooks, subscriptions and push configs with something to do that are in no queue: it was flushed, or a worker died. */
async function sweepWebhooks({ config, db, queues }: Core, graceMs: number): Promise<void> {
  const { eventSubscriptions, pushConfigs, remoteAgents, remoteThreads, webhookDeliveries } = db;
  const now = Date.now();
  const sweep = (listDue: ListDue, toJob: typeof createPostingJob) =>
    forEachBatch(
      (after, limit) => listDue(now - graceMs, after, limit),
      (due) => queues.enqueue(due.map((id) => toJob(id, now))),
    );
  await sweep(webhookDeliveries.listDueWebhooks, createWebhookJob);
  const remote = config.REMOTE_AGENTS ? [remoteThreads, remoteAgents] : [];
  for (const { listDue } of [eventSubscriptions, pushConfigs, ...remote])
    await sweep(listDue, createPostingJob);
}

/** Enqueues people and messages that are due. Entries of one period have the same id, so that they do not pile up. */
async function sweepNotifications({ db, queues }: Core, now: number): Promise<void> {
  const due = now - (now % notificationSweepMs);
  const sweep = (listDue: ListDue, toJob: typeof createCheckJob) =>
    forEachBatch(
      (after, limit) => listDue(now, after, limit),
      (ids) => queues.enqueue(ids.map((id) => toJob(id, { due, now }))),
    );
  await sweep(db.notificationSettings.listDue, createCheckJob);
  await sweep(db.notificationMessages.listDue, createSendingJob);
}
