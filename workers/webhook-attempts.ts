import type { DeliveryRow } from '../src/repositories/webhooks/deliveries.ts';
import type { EventRow } from '../src/repositories/feed/events.ts';
import { system } from '../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../src/compose.ts';
import { toNoticeJob } from '../packages/core/src/domain/notifications.ts';
import { attemptOutcome, isDelivered, type OutboundResponse } from '../packages/core/src/domain/outbound.ts';
import type { WebhookPacing } from '../packages/core/src/domain/webhooks.ts';
import { createWebhookJob } from '../src/jobs/webhooks.ts';
import { canSeeEvent } from '../packages/core/src/events/feed-event.ts';
import { presentEvent } from '../packages/core/src/events/present-event.ts';
import type { Receipts } from '../src/realtime/receipts.ts';
import { maxAbandonedAtOnce, type Webhook, webhookDisabled } from '../src/services/webhooks/access.ts';
import { signHeaders } from '../src/services/webhooks/secrets.ts';

export type Delivery = DeliveryRow;

/** Whether the receiver may get its next event now, and the pause that it asked for (ms). */
export interface AttemptOutcome {
  done: boolean;
  retryAfterMs: number;
}

export type AttemptDelivery = (
  webhook: Webhook,
  delivery: Delivery,
  event: EventRow | undefined,
) => Promise<AttemptOutcome>;

const attemptDone: AttemptOutcome = { done: true, retryAfterMs: 0 };
const eventRemoved = 'the event is no longer stored';
const secretUnreadable = 'the signing secret cannot be read; rotate it';

/** Returns a function that sends one delivery, records the result, and schedules the retry. */
export function createAttempts(
  core: Core,
  receipts: Pick<Receipts, 'delivered'>,
  pacing: WebhookPacing,
): AttemptDelivery {
  const { db, metrics, queues } = core;
  const { webhooks, webhookDeliveries } = db;
  const wholeScheduleMs = pacing.scheduleMs.reduce((sum, ms) => sum + ms, 0);

  /** Disables the webhook if every attempt failed during a whole schedule. The first attempts of new events count, because they come before retries. */
  async function retryLater(
    webhook: Webhook,
    delivery: Delivery,
    response: OutboundResponse,
  ): Promise<AttemptOutcome> {
    const now = Date.now();
    await webhooks.noteFailure(webhook.id, webhook.failing_since === null, now);
    const retryAfterMs = Math.min(response.retryAfterMs ?? 0, pacing.maxRetryAfterMs);
    const pauseMs = response.status === 410 ? undefined : pacing.scheduleMs[delivery.attempts + 1];
    // A retry that was late counts as one attempt more, not as the last one.
    const isFirstOrLast = delivery.attempts === 0 || pauseMs === undefined;
    if (pauseMs === undefined) {
      await recordResult(core, delivery, { state: 'failed', next_at: null }, response);
    } else {
      const delayMs = Math.max(pauseMs, retryAfterMs) * (1 + Math.random() * pacing.jitter);
      const next_at = Date.now() + Math.round(delayMs);
      await recordResult(core, delivery, { state: 'pending', next_at }, response);
      await queues.enqueue([createWebhookJob(webhook.id, next_at)]);
    }
    if (response.status === 410) await disable(core, webhook.id, 'gone');
    else if (isFirstOrLast) await disable(core, webhook.id, 'failing', now - wholeScheduleMs);
    return { done: false, retryAfterMs };
  }

  const clearFailure = async ({ id, failing_since }: Webhook): Promise<void> => {
    if (failing_since !== null) await webhooks.clearFailure(id);
  };

  return async (webhook, delivery, event) => {
    // The scopes can have changed since the event was queued, or this is a replay.
    if (event && !canSeeEvent(new Set(webhook.scopes), event.type)) {
      await clearFailure(webhook);
      await webhookDeliveries.skip(webhook.id, event.id);
      return attemptDone;
    }
    const body = event && createBody(core, webhook, delivery, event);
    const headers = body === undefined ? undefined : createHeaders(core, webhook, delivery, body);
    if (body === undefined || !headers) {
      const error = body === undefined ? eventRemoved : secretUnreadable;
      const nothingSent = { status: null, error, duration_ms: null };
      await recordResult(core, delivery, { state: 'failed', next_at: null }, nothingSent);
      return attemptDone;
    }
    const response = await send(core, webhook.url, headers, body, event?.traceparent);
    metrics.webhookAttempts.inc({ outcome: attemptOutcome(response) });
    if (!isDelivered(response)) return retryLater(webhook, delivery, response);
    await clearFailure(webhook);
    await recordResult(core, delivery, { state: 'delivered', next_at: null }, response);
    receipts.delivered(webhook.agent_id, event ? [event] : []);
    return attemptDone;
  };
}

/** Sends a request with `traceparent`, so that the receiver can continue the trace (W3C Trace Context). */
function send(
  { tracing, settings: { webhookSender } }: Core,
  url: string,
  headers: Record<string, string>,
  body: string,
  parent: string | null | undefined,
): Promise<OutboundResponse> {
  return tracing.span('POST webhook', { kind: 'client', parent: parent ?? undefined }, async (annotate) => {
    const traceparent = tracing.current();
    const tracedHeaders = traceparent === undefined ? headers : { ...headers, traceparent };
    const response = await webhookSender.send({ url, headers: tracedHeaders, body });
    annotate({ 'http.request.method': 'POST', 'http.response.status_code': response.status ?? 0 });
    return response;
  });
}

function createBody(
  { settings: { cursors }, logger }: Core,
  { agent_id }: Webhook,
  { number }: Delivery,
  event: EventRow,
): string | undefined {
  try {
    return JSON.stringify(presentEvent(event, cursors.encodeFeed(agent_id, number)));
  } catch (error) {
    logger.error({ err: error, event: event.id }, 'event cannot be presented');
    return undefined;
  }
}

/** Returns undefined if SECRET_KEY has changed; the delivery then fails without retries. */
function createHeaders(
  { settings: { sealedBox }, logger }: Core,
  webhook: Webhook,
  { event_id }: Delivery,
  body: string,
): Record<string, string> | undefined {
  try {
    return signHeaders(sealedBox, webhook, { event_id, body, now: Date.now() });
  } catch (error) {
    logger.error({ err: error, webhook: webhook.id }, 'webhook secret cannot be read');
    return undefined;
  }
}

async function recordResult(
  { db }: Core,
  { webhook_id, event_id }: Delivery,
  next: Pick<Delivery, 'state' | 'next_at'>,
  {
    status,
    error,
    duration_ms,
    response,
  }: Omit<OutboundResponse, 'duration_ms'> & { duration_ms: number | null },
): Promise<void> {
  const text = response === undefined ? null : toStoredText(response);
  const attempt = { ...next, at: Date.now(), status, error, duration_ms, response: text };
  await db.webhookDeliveries.recordAttempt(webhook_id, event_id, attempt);
}

/** PostgreSQL stores no NUL in a text. */
const toStoredText = (text: string): string => text.replaceAll('\0', '\u{FFFD}');

/** @param failingBefore disables it only if it has failed since this time (ms). */
async function disable(
  { unitOfWork, logger }: Core,
  id: string,
  reason: 'gone' | 'failing',
  failingBefore?: number,
): Promise<void> {
  await unitOfWork.write(system, async (work) => {
    if (!(await work.db.webhooks.disable(id, reason, work.now, failingBefore))) return;
    logger.info({ webhook: id, reason }, 'webhook disabled');
    await work.db.webhookDeliveries.abandon(id, webhookDisabled, maxAbandonedAtOnce);
    const webhook = await work.db.webhooks.find(id);
    if (webhook) work.changes.enqueue(toNoticeJob(webhook.agent_id, `${id}/${work.now}`));
  });
}
