import { setMaxListeners } from 'node:events';
import type { Core } from '../src/compose.ts';
import { startInstanceGuard } from '../src/start/instance-guard.ts';
import { defaultPacing, type WebhookPacing } from '../src/domain/webhooks.ts';
import { listenForOperators } from '../src/ops/listener.ts';
import type { Lifecycle } from '../src/start/lifecycle.ts';
import { JobPutBack } from '../src/platform/queues/job-queues.ts';
import { createReceipts } from '../src/realtime/receipts.ts';
import { detectRestore } from '../src/services/feed-epoch.ts';
import { recordDeliveries } from '../src/services/threads/receipts.ts';
import { agentErasureHandler } from './agent-erasure.ts';
import { agentExportHandler } from './agent-export.ts';
import { attachmentScanningHandler } from './attachment-scanning.ts';
import { startScheduler } from './scheduler.ts';
import { deliveryHandler } from './delivery.ts';
import { maintenanceHandler } from './maintenance/tasks.ts';
import { createBackOff } from '../src/shared/back-off.ts';
import { consumeQueues, type OnJobEnd } from './consume-queues.ts';
import { searchIndexingHandler } from './search-indexing.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createStoppableBlobs } from './stoppable.ts';
import { subscribeToWebhookWakeups, webhookHandler } from './webhooks.ts';

/**
 * Starts one worker: it consumes the queues that WORKER_ROLES names.
 * @returns the port for operators, when it has one.
 */
export async function startWorker(
  core: Core,
  lifecycle: Lifecycle,
  pacing: WebhookPacing = defaultPacing,
): Promise<{ ops_port: number | undefined }> {
  const { config, queues, logger, metrics, unitOfWork } = core;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every open file listens to it
  let leaving = false;
  lifecycle.onStop('connections', 5_000, () => core.close());
  await detectRestore(unitOfWork);
  const leaveQueues = await startInstanceGuard(core);
  lifecycle.onStop('queues', 1_000, async () => leaveQueues());
  const ops_port = await listenForOperators(core, lifecycle, () => leaving);
  const receipts = createReceipts({
    write: (batch) => unitOfWork.writeAsSystem((work) => recordDeliveries(work, batch)),
    log: (message, error) => logger.warn({ err: error }, message),
  });
  lifecycle.onStop('receipts', 2_000, () => receipts.close());
  const rests = createBackOff(pacing.backoffMs, pacing.maxBackoffMs);
  const stoppable = { ...core, blobs: createStoppableBlobs(stop.signal, core.blobs) };
  const handlers = [
    deliveryHandler(core),
    webhookHandler(core, receipts, rests, pacing),
    searchIndexingHandler(core),
    attachmentScanningHandler(stoppable, { stop: stop.signal }),
    maintenanceHandler(stoppable, pacing),
    agentErasureHandler(stoppable, stop.signal),
    agentExportHandler(stoppable, stop.signal),
  ];
  const meter: OnJobEnd = (labels, seconds) => metrics.jobs.observe(labels, seconds);
  const consumers = await consumeQueues(
    { queues, concurrency: config.WORKER_CONCURRENCY, meter },
    config.WORKER_ROLES,
    handlers,
  );
  lifecycle.onStop('consumers', 20_000, async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()));
  });
  // Right before: a consumer that goes on would take what was put back once more.
  lifecycle.onStop('long jobs', 1_000, async () => stop.abort(new JobPutBack('this worker stops')));
  if (config.WORKER_ROLES.includes('delivery')) await subscribeToWebhookWakeups(core, rests);
  if (config.WORKER_ROLES.includes('maintenance')) {
    const stopClock = startScheduler(queues, logger);
    lifecycle.onStop('clock', 1_000, async () => stopClock());
  }
  lifecycle.onStop('signs of life', 1_000, await startHeartbeat(core));
  lifecycle.onStop('readiness', 1_000, async () => {
    leaving = true;
  });
  logger.info({ roles: config.WORKER_ROLES }, 'worker ready');
  return { ops_port };
}
