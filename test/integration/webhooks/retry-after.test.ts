import { expect, test } from 'vitest';
import { eventually, useWebhooks } from './house.ts';

/** Milliseconds that a receiver is left alone because it asks for that. */
const longest_asked = 1_500;
const house = useWebhooks({ pacing: { longest_asked } });

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
    house.receiver.answers((response, post) => {
      if (post.path === webhook.path && refused.length === 0) {
        refused.push(Date.now());
        response.writeHead(429, { 'retry-after': value() }).end();
      } else response.writeHead(204).end();
    });
    await house.letter(bob, 'first');
    await eventually(() => refused.length).toBe(1);
    await house.letter(bob, 'second');
    await eventually(() => house.deliveries(bob, webhook, '?state=delivered')).toHaveLength(2);
    const delivered = await house.core.database.query<{ at: number }>(
      { text: 'select min(last_attempt_at) as at from webhook_deliveries where webhook_id = $1' },
      [webhook.id],
    );
    expect((delivered[0]?.at ?? 0) - (refused[0] ?? 0)).toBeGreaterThanOrEqual(900);
    expect(house.receiver.at(webhook.path)).toHaveLength(3);
  },
);
