import { expect, test } from 'vitest';
import { waitUntil, useWebhooks } from '../../integration/webhooks/setup.ts';

/** The longest accepted Retry-After, in milliseconds. */
const maxRetryAfterMs = 1_500;
const setup = useWebhooks({ pacing: { maxRetryAfterMs } });

test.each([
  ['in seconds', () => '1'],
  ['by a date', () => new Date(Date.now() + 2_000).toUTCString()],
  ['longer than the maximum', () => '999999999'],
])('no event is posted to a receiver until its Retry-After (%s)', async (_, value) => {
  const bob = await setup.agent();
  const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
  const refused: number[] = [];
  setup.receiver.setHandler((response, post) => {
    if (post.path === webhook.path && refused.length === 0) {
      refused.push(Date.now());
      response.writeHead(429, { 'retry-after': value() }).end();
    } else response.writeHead(204).end();
  });
  await setup.sendMessageTo(bob, 'first');
  await waitUntil(() => refused.length).toBe(1);
  await setup.sendMessageTo(bob, 'second');
  await waitUntil(() => setup.deliveries(bob, webhook, '?state=delivered')).toHaveLength(2);
  const delivered = await setup.core.database.query<{ at: number }>(
    { text: 'select min(last_attempt_at) as at from webhook_deliveries where webhook_id = $1' },
    [webhook.id],
  );
  expect((delivered[0]?.at ?? 0) - (refused[0] ?? 0)).toBeGreaterThanOrEqual(900);
  expect(setup.receiver.postsAt(webhook.path)).toHaveLength(3);
});
