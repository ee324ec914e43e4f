import type { Core } from '../../src/compose.ts';
import { isOpenTask } from '../../packages/core/src/domain/tasks.ts';
import { attemptOutcome } from '../../packages/core/src/domain/outbound.ts';
import type { WebhookPacing } from '../../packages/core/src/domain/webhooks.ts';
import { toLegacyTask } from '../../src/presenters/a2a/legacy.ts';
import { presentTask, presentUpdate, type TaskForm } from '../../src/presenters/a2a/task.ts';
import type { A2aTaskRow } from '../../src/repositories/a2a/tasks.ts';
import type { ClaimedPushConfig } from '../../src/repositories/a2a/push-configs.ts';
import { toFileAddress } from '../../src/services/a2a/files.ts';
import { createPushRequest } from '../../src/services/a2a/push-requests.ts';
import { findUpdates } from '../../src/services/a2a/tasks.ts';
import { toCallbackFailure } from '../../src/services/event-subscriptions/requests.ts';
import { nextAttemptAt, type PostingSource, type Step } from './handler.ts';

/** The maximum number of messages of a task that a client of 0.3 gets. */
const maxHistory = 100;

/**
 * Sends the updates of tasks to the push notification configs of A2A clients, in the order of their generations. Configs of A2A 0.3 get the task
 * itself. A config stops after the last update of an ended task. It also stops after a 410, after the last failed attempt, or when its secrets
 * cannot be read; the client then restarts it at its position.
 */
export function pushConfigSource(core: Core, pacing: WebhookPacing): PostingSource {
  const { pushConfigs } = core.db;
  return {
    owns: (id) => id.startsWith('tsk_'),
    async claim(key) {
      const [task_id = '', id = ''] = key.split('/');
      const claimed = await pushConfigs.claim(task_id, id, Date.now(), pacing.leaseMs);
      return (
        claimed && {
          agent_id: claimed.client_id,
          isDue: () => pushConfigs.isDue(task_id, id, Date.now()),
          ...createTurn(core, pacing, claimed),
        }
      );
    },
  };
}

function createTurn(core: Core, pacing: WebhookPacing, config: ClaimedPushConfig) {
  const { db, settings, metrics } = core;
  const form = (now: number): TaskForm => ({
    fileUrl: (id) => toFileAddress({ settings, now }, id),
    hasMailbox: config.has_mailbox,
  });

  /** Stores the state and extends the lease. Returns false if another process or the client has changed the config. */
  async function store(next_at: number | null = Date.now() + pacing.leaseMs): Promise<boolean> {
    const lease = config.next_at;
    config.next_at = next_at ?? 0;
    return db.pushConfigs.store(config, lease, { ...config, next_at });
  }

  async function stop(last_error: string): Promise<Step> {
    config.last_error = last_error;
    await store(null);
    return 'ended';
  }

  /** Sends one update. At each attempt, its files get new addresses. */
  async function send(generation: number, toEvent: (form: TaskForm) => object): Promise<Step> {
    const now = Date.now();
    let request;
    try {
      const event = toEvent(form(now));
      request = createPushRequest(settings.sealedBox, config, { event, generation, now });
    } catch (error) {
      core.logger.error({ err: error, task: config.task_id, generation }, 'an update cannot be sent');
      return stop('not_sendable');
    }
    const response = await settings.webhookSender.send(request);
    const failure = toCallbackFailure(response);
    metrics.webhookAttempts.inc({ outcome: attemptOutcome(response) });
    config.last_error = failure;
    if (failure === null) {
      Object.assign(config, { attempts: 0, position: generation });
      return (await store()) ? 'more' : 'ended';
    }
    config.attempts += 1;
    const until = nextAttemptAt(pacing, config.attempts, response.retryAfterMs);
    return response.status === 410 || until === undefined ? stop(failure) : { until };
  }

  /** Sends the task as it is now, which includes the earlier updates. */
  function sendTask(task: A2aTaskRow): Promise<Step> {
    const parts = { messages: task.messages, hasArtifacts: true, historyLength: maxHistory };
    return send(task.generation, (shown) => toLegacyTask({ ...presentTask(task, parts, shown) }));
  }

  return {
    async next(end: number): Promise<Step> {
      const detail = config.version === '0.3' ? { last: maxHistory, has_artifacts: true } : undefined;
      const found = await findUpdates(db, { ...config, agent: config.agent_id }, config.position, detail);
      if (!found) return 'ended';
      const { task, updates } = found;
      if (updates.length === 0 && isOpenTask(task.state)) return 'idle';
      if (updates.length === 0) {
        await store(null);
        return 'ended';
      }
      if (config.version === '0.3') return sendTask(task);
      for (const update of updates) {
        const step = await send(update.generation, (shown) => presentUpdate(task, update, shown));
        if (step !== 'more' || Date.now() >= end) return step;
      }
      return 'more';
    },
    release: store,
  };
}
