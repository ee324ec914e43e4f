import { system } from '../packages/core/src/domain/auth/audit.ts';
import { setMaxListeners } from 'node:events';
import type { Core } from '../src/compose.ts';
import { startClock } from '../src/start/clock.ts';
import { openFeedEpoch } from '../src/start/feed-epoch.ts';
import { startInstanceGuard } from '../src/start/instance-guard.ts';
import { defaultPacing, type WebhookPacing } from '../packages/core/src/domain/webhooks.ts';
import { maintenanceTasks } from '../src/jobs/maintenance.ts';
import { listenForOperators } from '../src/ops/listener.ts';
import type { Lifecycle } from '../src/start/lifecycle.ts';
import { JobPutBack } from '../src/platform/queues/job-queues.ts';
import { createReceipts } from '../src/realtime/receipts.ts';
import { recordDeliveries } from '../src/services/threads/receipts.ts';
import { agentErasureHandler } from './agent-erasure.ts';
import { agentExportHandler } from './agent-export.ts';
import { attachmentScanningHandler } from './attachment-scanning.ts';
import { startScheduler } from './scheduler.ts';
import { deliveryHandlers } from './delivery.ts';
import { maintenanceHandler } from './maintenance/tasks.ts';
import { createBackOff } from '../src/shared/back-off.ts';
import { consumeQueues, type OnJobEnd } from './consume-queues.ts';
import { subscriptionSource } from './posting/event-subscriptions.ts';
import { remoteThreadSource } from './remote/deliver.ts';
import { openIntake } from '../src/start/execute.ts';
import { removeOldDrafts } from '../src/start/storage.ts';
import { remoteDelivery, subscriptionPosting } from '../src/jobs/posting.ts';
import { postingHandler } from './posting/handler.ts';
import { pushConfigSource } from './posting/push-configs.ts';
import { cardSource } from './remote/cards.ts';
import { subscribeToRemoteWakeups } from './remote/wakeups.ts';
import { defaultNotifications, notificationHandlers } from './notifications.ts';
import { searchIndexingHandler } from './search-indexing.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createStoppableBlobs } from './stoppable.ts';
import { subscribeToWebhookWakeups, webhookHandler } from './webhooks.ts';
import { withdrawalHandler } from './withdrawals.ts';

/**
 * Starts one worker, which consumes the queues of its WORKER_ROLES.
 * @returns the port of the operator endpoints, if they are enabled.
 */
export async function startWorker(
  core: Core,
  lifecycle: Lifecycle,
  pacing: WebhookPacing = defaultPacing,
  notifications = defaultNotifications,
): Promise<{ ops_port: number | undefined }> {
  const { config, queues, logger, metrics, unitOfWork } = core;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every open file adds a listener
  let isStopping = false;
  lifecycle.onStop('connections', 5_000, () => core.close());
  void removeOldDrafts(core);
  await startClock(core, lifecycle);
  await openFeedEpoch(core);
  const stopInstanceGuard = await startInstanceGuard(core);
  lifecycle.onStop('queues', 1_000, async () => stopInstanceGuard());
  const ops_port = await listenForOperators(core, lifecycle, () => isStopping);
  const receipts = createReceipts({
    write: (batch) => unitOfWork.write(system, (work) => recordDeliveries(work, batch)),
    log: (message, error) => logger.warn({ err: error }, message),
  });
  lifecycle.onStop('receipts', 2_000, () => receipts.close());
  const backOff = createBackOff(pacing.backoffMs, pacing.maxBackoffMs);
  const remotePacing = { ...pacing, scheduleMs: pacing.remoteScheduleMs };
  const stoppable = { ...core, blobs: createStoppableBlobs(stop.signal, core.blobs) };
  const handlers = [
    ...deliveryHandlers(core),
    webhookHandler(core, receipts, backOff, pacing),
    postingHandler(
      core,
      subscriptionPosting,
      [subscriptionSource(core, receipts, pacing), pushConfigSource(core, pacing)],
      pacing,
    ),
    postingHandler(
      core,
      remoteDelivery,
      // Without them, entries that an earlier setting left are dropped.
      config.REMOTE_AGENTS
        ? [cardSource(core, remotePacing), remoteThreadSource(stoppable, openIntake(stoppable), remotePacing)]
        : [],
      pacing,
    ),
    ...notificationHandlers(core, notifications),
    searchIndexingHandler(core),
    withdrawalHandler(stoppable, stop.signal),
    attachmentScanningHandler(stoppable, { stop: stop.signal }),
    maintenanceHandler(stoppable, pacing, notifications.now),
    agentErasureHandler(stoppable, stop.signal),
    agentExportHandler(stoppable, stop.signal),
  ];
  const onJobEnd: OnJobEnd = (labels, seconds) => metrics.jobs.observe(labels, seconds);
  const consumers = await consumeQueues(
    { queues, concurrency: config.WORKER_CONCURRENCY, onJobEnd },
    config.WORKER_ROLES,
    handlers,
  );
  lifecycle.onStop('consumers', 20_000, async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()));
  });
  // Stops right before the consumers: a running consumer would take a job that was put back.
  lifecycle.onStop('long jobs', 1_000, async () => stop.abort(new JobPutBack('this worker stops')));
  if (config.WORKER_ROLES.includes('delivery')) {
    subscribeToWebhookWakeups(core, backOff);
    if (config.REMOTE_AGENTS) subscribeToRemoteWakeups(core);
  }
  if (config.WORKER_ROLES.includes('maintenance')) {
    const intervals = { ...maintenanceTasks, 'sweep-notifications': notifications.sweepMs };
    const stopScheduler = startScheduler(queues, logger, intervals, core.clock.now);
    lifecycle.onStop('scheduler', 1_000, async () => stopScheduler());
  }
  lifecycle.onStop('heartbeat', 1_000, await startHeartbeat(core));
  lifecycle.onStop('readiness', 1_000, async () => {
    isStopping = true;
  });
  logger.info({ roles: config.WORKER_ROLES }, 'worker ready');
  return { ops_port };
}
