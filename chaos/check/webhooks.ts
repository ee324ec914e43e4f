import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isOwnTaskChange, isSameEvent } from '../event.ts';
import type { WebhookPost } from '../../scripts/parts/webhook-receiver.ts';
import type { History, SeenEvent, WebhookAttempt } from '../history.ts';
import { parseJson } from '../parse-json.ts';
import { describe } from './feeds.ts';
import type { Violation } from './violation.ts';

const body = z.looseObject({
  id: z.string(),
  type: z.string(),
  created_at: z.int(),
  data: z.record(z.string(), z.unknown()),
});

/**
 * Checks the requests to webhooks: each is signed with the secret of the webhook and has the data of an event in the agent's feed, and
 * every event after the creation of the webhook arrived at least once.
 */
export function* checkWebhooks({ webhooks, feeds }: History): Generator<Violation> {
  for (const webhook of webhooks) {
    const events = feeds.find(({ agent_id }) => agent_id === webhook.agent_id)?.events ?? [];
    yield* checkWebhook(webhook, events);
  }
}

function* checkWebhook(webhook: WebhookAttempt, events: readonly SeenEvent[]): Generator<Violation> {
  const [answer] = webhook.answers;
  const { acknowledged_at, agent_id, posts } = webhook;
  if (!answer || acknowledged_at === null) return;
  const where = `at the webhook ${answer.webhook_id} of ${agent_id}`;
  const byId = new Map(events.map((event) => [event.event_id, event]));
  for (const post of posts) {
    if (!isSigned(post, answer.secret))
      yield { kind: 'wrong signature', detail: `event ${post.id} ${where}` };
    const event = byId.get(post.id);
    if (!event) yield { kind: 'foreign', detail: `event ${post.id} ${where}` };
    else if (!isSameEvent({ ...readBody(post) }, event))
      yield { kind: 'changed', detail: `${describe(event)} ${where} differs from the feed` };
  }
  const got = new Set(posts.map(({ id }) => id));
  for (const event of events) {
    if (isOwnTaskChange(event, agent_id)) continue;
    const isLater = (event.created_at ?? 0) > acknowledged_at;
    if (isLater && !got.has(event.event_id))
      yield { kind: 'not seen', detail: `${describe(event)} ${where}` };
  }
}

/** Verifies a signature as the specification of Standard Webhooks describes it. */
function isSigned({ id, timestamp, signature, body: text }: WebhookPost, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64');
  return signature.split(' ').includes(`v1,${expected}`);
}

function readBody(post: WebhookPost) {
  const parsed = body.safeParse(parseJson(post.body));
  if (!parsed.success) return { event_id: '', type: '', created_at: null, data: {} };
  const { id, type, created_at, data } = parsed.data;
  return { event_id: id, type, created_at, data };
}
