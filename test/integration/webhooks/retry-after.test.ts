import { expect, test } from 'vitest';
import { waitUntil, useWebhooks } from './setup.ts';

/** Milliseconds that a receiver is left alone because it asks for that. */
const maxRetryAfterMs = 1_500;
const house = useWebhooks({ pacing: { maxRetryAfterMs } });

test.each([
  ['in seconds', () => '1'],
  ['by a date', () => new Date(Date.now() + 2_000).toUTCString()],
  ['more than is granted', () => '999999999'],
])(
  'a receiver that says when to come back (%s) is left alone until then, with everything for it',
  async (_, value) => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob, { event_types: ['message.created'] });
    const refused: number[] = [];
    house.receiver.setHandler((response, post) => {
      if (post.path === webhook.path && refused.length === 0) {
        refused.push(Date.now());
        response.writeHead(429, { 'retry-after': value() }).end();
      } else response.writeHead(204).end();
    });
    await house.sendMessageTo(bob, 'first');
    await waitUntil(() => refused.length).toBe(1);
    await house.sendMessageTo(bob, 'second');
    await waitUntil(() => house.deliveries(bob, webhook, '?state=delivered')).toHaveLength(2);
    const delivered = await house.core.database.query<{ at: number }>(
      { text: 'select min(last_attempt_at) as at from webhook_deliveries where webhook_id = $1' },
      [webhook.id],
    );
    expect((delivered[0]?.at ?? 0) - (refused[0] ?? 0)).toBeGreaterThanOrEqual(900);
    expect(house.receiver.postsAt(webhook.path)).toHaveLength(3);
  },
);
