import type { Core } from '../src/compose.ts';
import { type OutboundResponse, isDelivered } from '../src/domain/outbound.ts';
import { type WebhookPacing, webhooksTopic } from '../src/domain/webhooks.ts';
import { createWebhookJob, webhookPosting } from '../src/jobs/webhooks.ts';
import { presentEvent } from '../src/presenters/events.ts';
import type { Receipts } from '../src/realtime/receipts.ts';
import {
  maxAbandonedAtOnce,
  type Webhook,
  webhookDisabled,
  webhookRemoved,
} from '../src/services/webhooks/access.ts';
import { signHeaders } from '../src/services/webhooks/secrets.ts';
import type { BackOff } from '../src/shared/back-off.ts';
import type { JobHandler } from './consume-queues.ts';
import { createKeyedMutex } from '../src/shared/keyed-mutex.ts';

type Delivery = Awaited<ReturnType<Core['repositories']['webhookDeliveries']['claim']>>[number];
type Event = Awaited<ReturnType<Core['repositories']['feed']['readEvents']>>[number];

/** Whether an event need not be tried again now, and for how many ms the receiver asks to be left alone. */
interface AttemptOutcome {
  done: boolean;
  retryAfterMs: number;
}

const attemptDone: AttemptOutcome = { done: true, retryAfterMs: 0 };

/**
 * Posts what webhooks have to post, one webhook at a time in turns: a receiver that is slow holds up its own events, a few at a
 * time, and nobody else's. What is under way is leased: a worker that dies in the middle leaves it to be posted again.
 */
export function webhookHandler(
  core: Core,
  receipts: Pick<Receipts, 'delivered'>,
  rests: BackOff,
  pacing: WebhookPacing,
): JobHandler<{ webhook_id: string }> {
  const { repositories, unitOfWork, webhookSender, sealedBox, cursors, queues, logger, metrics, tracing } =
    core;
  const { webhooks, webhookDeliveries, feed, presence } = repositories;
  const turns = createKeyedMutex();

  /** Posts a few that are due; answers how it goes on, or for how many ms at least the receiver is to be left alone. */
  async function round(webhook: Webhook): Promise<'done' | 'more' | number> {
    const { id, agent_id, only_when_offline } = webhook;
    const claimed = await webhookDeliveries.claim(id, Date.now(), pacing.leaseMs, pacing.maxParallel);
    if (claimed.length === 0) return 'done';
    if (only_when_offline && (await presence.listOnline([agent_id])).size > 0) {
      for (const { event_id } of claimed) await webhookDeliveries.skip(id, event_id);
      return 'more';
    }
    const found = await feed.readEvents(claimed.map(({ event_id }) => event_id));
    const events = new Map(found.map((event) => [event.id, event]));
    const settled = await Promise.all(
      claimed.map((delivery) => attempt(webhook, delivery, events.get(delivery.event_id))),
    );
    const asked = Math.max(...settled.map(({ retryAfterMs }) => retryAfterMs));
    return asked === 0 && settled.some(({ done }) => done) ? 'more' : asked;
  }

  async function attempt(
    webhook: Webhook,
    delivery: Delivery,
    event: Event | undefined,
  ): Promise<AttemptOutcome> {
    const body = event && bodyOf(webhook, delivery, event);
    const headers = body === undefined ? undefined : signed(webhook, delivery, body);
    if (body === undefined || !headers) {
      const fault = body === undefined ? eventGone : unsigned;
      await note(delivery, { state: 'failed', next_at: null }, { status: null, error: fault });
      return attemptDone;
    }
    const posted = await post(webhook.url, headers, body, event?.traceparent);
    metrics.webhookAttempts.inc({ outcome: outcomeOf(posted) });
    if (!isDelivered(posted)) return notTaken(delivery, posted);
    await note(delivery, { state: 'delivered', next_at: null }, posted);
    receipts.delivered(webhook.agent_id, event ? [event] : []);
    return attemptDone;
  }

  /** A receiver that traces as well can go on with the trace (W3C Trace Context). */
  function post(
    url: string,
    headers: Record<string, string>,
    body: string,
    trace: string | null | undefined,
  ): Promise<OutboundResponse> {
    const parent = trace ?? undefined;
    return tracing.span('POST webhook', { kind: 'client', parent }, async (tell) => {
      const traceparent = tracing.current();
      const traced = traceparent === undefined ? headers : { ...headers, traceparent };
      const posted = await webhookSender.send({ url, headers: traced, body });
      tell({ 'http.request.method': 'POST', 'http.response.status_code': posted.status ?? 0 });
      return posted;
    });
  }

  function bodyOf({ agent_id }: Webhook, { number }: Delivery, event: Event): string | undefined {
    try {
      return JSON.stringify(presentEvent(event, cursors.encodeFeed(agent_id, number)));
    } catch (error) {
      logger.error({ err: error, event: event.id }, 'an event cannot be shown');
      return undefined;
    }
  }

  /** A secret of another SECRET_KEY never opens again: to try for days would not help. */
  function signed(webhook: Webhook, { event_id }: Delivery, body: string) {
    try {
      return signHeaders(sealedBox, webhook, { event_id, body, now: Date.now() });
    } catch (error) {
      logger.error({ err: error, webhook: webhook.id }, 'the secret of a webhook cannot be read');
      return undefined;
    }
  }

  async function notTaken(delivery: Delivery, posted: OutboundResponse): Promise<AttemptOutcome> {
    const { webhook_id, attempts, created_at } = delivery;
    const retryAfterMs = Math.min(posted.retryAfterMs ?? 0, pacing.maxRetryAfterMs);
    const pause = pacing.scheduleMs[attempts + 1];
    if (posted.status === 410 || pause === undefined) {
      await note(delivery, { state: 'failed', next_at: null }, posted);
      if (posted.status === 410) await disable(webhook_id, 'gone');
      // One event that the receiver cannot bear says nothing of the others.
      else if (!(await webhookDeliveries.deliveredSince(webhook_id, created_at)))
        await disable(webhook_id, 'failing');
      return { done: false, retryAfterMs };
    }
    const next_at =
      Date.now() + Math.round(Math.max(pause, retryAfterMs) * (1 + Math.random() * pacing.jitter));
    await note(delivery, { state: 'pending', next_at }, posted);
    await queues.enqueue([createWebhookJob(webhook_id, next_at)]);
    return { done: false, retryAfterMs };
  }

  async function note(
    { webhook_id, event_id }: Delivery,
    now: Pick<Delivery, 'state' | 'next_at'>,
    { status, error }: OutboundResponse,
  ): Promise<void> {
    await webhookDeliveries.recordAttempt(webhook_id, event_id, {
      ...now,
      at: Date.now(),
      status,
      error,
    });
  }

  async function disable(id: string, reason: 'gone' | 'failing'): Promise<void> {
    logger.info({ webhook: id, reason }, 'a webhook is disabled');
    await unitOfWork.writeAsSystem(async (work) => {
      if (!(await work.webhooks.disable(id, reason, work.now))) return;
      await work.webhookDeliveries.abandon(id, webhookDisabled, maxAbandonedAtOnce);
    });
  }

  async function giveUp(id: string, why: string): Promise<void> {
    while ((await webhookDeliveries.abandon(id, why, maxAbandonedAtOnce)) === maxAbandonedAtOnce);
  }

  /** Rounds until nothing is due, nothing gets through, the receiver asks for a rest, or others have waited long enough. */
  async function turn(id: string): Promise<void> {
    const end = Date.now() + pacing.turnMs;
    for (;;) {
      const webhook = await webhooks.find(id);
      if (!webhook?.enabled) {
        rests.reset(id);
        return giveUp(id, webhook ? webhookDisabled : webhookRemoved);
      }
      const result = await round(webhook);
      if (result === 'done') return;
      if (result !== 'more') return queues.enqueue([createWebhookJob(id, rests.start(id, result))]);
      rests.reset(id);
      const now = Date.now();
      if (now >= end) return queues.enqueue([createWebhookJob(id, now)]);
    }
  }

  async function handle({ webhook_id }: { webhook_id: string }): Promise<void> {
    const resting = rests.blockedUntil(webhook_id);
    if (resting > Date.now()) return queues.enqueue([createWebhookJob(webhook_id, resting)]);
    const asked = await turns.run(webhook_id, () => turn(webhook_id));
    if (asked) await queues.enqueue([createWebhookJob(webhook_id, Date.now())]);
  }

  return { contract: webhookPosting, handle };
}

function outcomeOf(posted: OutboundResponse): 'delivered' | 'refused' | 'unreachable' {
  if (isDelivered(posted)) return 'delivered';
  return posted.status === null ? 'unreachable' : 'refused';
}

const eventGone = 'the event is no longer kept';
const unsigned = 'the signing secret cannot be read; make a new one';

/**
 * Hears of webhooks that have something to post because somebody said so: then none of them rests. What is not heard, the sweep
 * finds.
 */
export async function subscribeToWebhookWakeups(
  { bus, queues, logger }: Core,
  rests: BackOff,
): Promise<void> {
  await bus.subscribe(webhooksTopic, (id) => {
    rests.reset(id);
    queues
      .enqueue([createWebhookJob(id, Date.now())])
      .catch((error: unknown) => logger.debug({ err: error }, 'not enqueued; the sweep will'));
  });
}
