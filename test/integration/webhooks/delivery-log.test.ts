import { expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { maintenance } from '../../../src/jobs/maintenance.ts';
import { readPages } from '../../clients/rest.ts';
import { waitUntil, useWebhooks } from './setup.ts';

const setup = useWebhooks();
const day = 24 * 60 * 60 * 1000;

test('the log is paged, filtered by state, and removed after 30 days', async () => {
  const bob = await setup.agent();
  const webhook = await setup.webhook(bob, { only_when_offline: true });
  const ids = Array.from({ length: 7 }, () => newId('event'));
  const states = ids.map((_, index) => (index % 3 === 0 ? 'failed' : 'delivered'));
  await setup.core.database.query(
    {
      text: `insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, attempts, created_at)
             select $1, e.id, 'message.created', 1, e.state, 1, $4 from unnest($2::text[], $3::text[]) e (id, state)`,
    },
    [webhook.id, ids, states, Date.now()],
  );
  const pages = await readPages(
    (query) => setup.call('GET', `/webhooks/${webhook.id}/deliveries${query}`, bob.token),
    { list: 'deliveries', limit: 3 },
  );
  expect(pages.map(({ id }) => id)).toEqual(ids.toReversed());
  const failed = await setup.deliveries(bob, webhook, '?state=failed&limit=2');
  expect(failed.map(({ id }) => id)).toEqual([ids[6], ids[3]]);
  const first = await setup.call('GET', `/webhooks/${webhook.id}/deliveries?limit=1`, bob.token);
  const query = `?state=failed&cursor=${first.body.next_cursor}`;
  expect((await setup.call('GET', `/webhooks/${webhook.id}/deliveries${query}`, bob.token)).status).toBe(400);

  await setup.core.database.query(
    { text: 'update webhook_deliveries set created_at = $1 where webhook_id = $2 and event_id = any($3)' },
    [Date.now() - 30 * day - 1_000, webhook.id, ids.slice(0, 2)],
  );
  const { queue, name, attempts, backoff_ms } = maintenance;
  const payload = { version: 1, task: 'expire-webhook-deliveries' };
  await setup.core.queues.enqueue([{ queue, name, id: 'now', payload, attempts, backoff_ms }]);
  await waitUntil(async () => (await setup.deliveries(bob, webhook)).map(({ id }) => id)).toEqual(
    ids.slice(2).toReversed(),
  );
});
