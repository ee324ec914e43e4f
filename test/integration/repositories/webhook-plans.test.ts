import { beforeAll, expect, test } from 'vitest';
import { feedRepository } from '../../../src/repositories/feed/feed.ts';
import { webhookDeliveriesRepository } from '../../../src/repositories/webhooks/deliveries.ts';
import { webhookFeedsRepository } from '../../../src/repositories/webhooks/feed-reading.ts';
import { webhooksRepository } from '../../../src/repositories/webhooks/webhooks.ts';
import { queryableOf, testFullScans, type Use } from '../../support/query-plans.ts';
import { useConnectedDatabase } from '../../support/servers/postgres/database.ts';

const big = new Set(['webhooks', 'webhook_deliveries', 'feed', 'events']);

const client = useConnectedDatabase();

/** Ten thousand agents with one webhook each. One webhook has a log of many deliveries, few of them pending. */
beforeAll(async () => {
  await client.query(`
    set session_replication_role = replica;
    insert into feed_heads (agent_id, last_number) select 'agt_' || n, 40 from generate_series(1, 10000) n;
    insert into feed (agent_id, number, event_id)
      select 'agt_' || a, n, 'evt_' || lpad(n::text, 26, '0') from generate_series(1, 500) a, generate_series(1, 40) n;
    insert into events (id, type, data, recipients, created_at)
      select 'evt_' || lpad(n::text, 26, '0'), 'contact.request', '{}', array['agt_7'], n from generate_series(1, 20000) n;
    insert into webhooks (id, agent_id, url, description, scopes, only_when_offline, secret, noted_number, created_at, updated_at)
      select 'whk_' || n, 'agt_' || n, 'https://example.com', '', '{contacts:read}', false, '', 0, n, n from generate_series(1, 10000) n;
    insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, next_at, created_at)
      select 'whk_' || n % 50, 'evt_' || lpad(n::text, 26, '0'), 'contact.request', n,
        case when n % 100 = 0 then 'pending' else 'delivered' end, case when n % 100 = 0 then n end, n
      from generate_series(1, 50000) n;
    analyze;
  `);
});
const eventId = (number: number) => `evt_${String(number).padStart(26, '0')}`;
const only = { before: eventId(9), state: null, limit: 51 };
const reads: Use[] = [
  ['recipients of events', (db) => feedRepository(db).readRecipients([eventId(7), eventId(8)])],
  [
    'events to post to webhooks',
    (db) =>
      webhookFeedsRepository(db).queueDeliveries(['agt_7', 'agt_8'], {
        online: ['agt_8'],
        limit: 500,
        now: 1,
      }),
  ],
  ['webhooks of an agent', (db) => webhooksRepository(db).list('agt_7')],
  ['webhooks with due deliveries', (db) => webhookDeliveriesRepository(db).listDueWebhooks(400, '', 1_000)],
  ['due deliveries of a webhook', (db) => webhookDeliveriesRepository(db).claim('whk_0', 400, 1, 4)],
  ['a page of the log', (db) => webhookDeliveriesRepository(db).list('whk_7', only)],
  [
    'a page of failed deliveries',
    (db) => webhookDeliveriesRepository(db).list('whk_7', { ...only, state: 'failed' }),
  ],
  [
    'a replay of failed deliveries',
    (db) => webhookDeliveriesRepository(db).replayFailed('whk_7', eventId(1), 1, 100),
  ],
  ['abandoned deliveries', (db) => webhookDeliveriesRepository(db).abandon('whk_7', 'why', 100)],
  ['old deliveries', (db) => webhookDeliveriesRepository(db).removeBefore(7, 100)],
];

testFullScans(client, reads, big);

test('a webhook reads each entry of its feed once, however often it is notified', async () => {
  const notes = webhookFeedsRepository(queryableOf(client));
  const queueDeliveries = () =>
    notes.queueDeliveries(['agt_60', 'agt_61'], { online: ['agt_61'], limit: 25, now: 1 });
  expect(new Set(await queueDeliveries())).toEqual(
    new Set([
      { webhook_id: 'whk_60', entries: 25, queued: 25 },
      { webhook_id: 'whk_61', entries: 25, queued: 25 },
    ]),
  );
  expect((await queueDeliveries()).map(({ queued }) => queued)).toEqual([15, 15]);
  expect(await queueDeliveries()).toEqual([]);
});
