import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import {
  webhookDeliverySchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../../packages/core/src/events/webhook-record.ts';
import { startService, type TestAgent, type TestService } from '../../support/service.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';
import { use } from '../../support/use.ts';

let service: TestService;
const receiver = use(startWebhookReceiver);
let env: Record<string, string>;
beforeAll(async () => {
  service = await startService({ worker: false, env: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
  const { DATABASE_URL, SECRET_KEY } = service.core.config;
  env = { DATABASE_URL, SECRET_KEY, WEBHOOK_NETWORKS: '127.0.0.0/8' };
});
afterAll(async () => {
  await service.stop();
});

const json = (...args: string[]) => runCliJson(env, ['webhook', ...args]);
const text = (...args: string[]) => runCli(env, ['webhook', ...args]);

async function make(agent: TestAgent, ...more: string[]) {
  return webhookWithSecretSchema.parse(
    await json('create', agent.handle, '--url', `${receiver.url}/ams`, ...more),
  );
}

test('create, list, show, update, rotate and remove', async () => {
  const bob = await service.agent();
  const { secret, ...webhook } = await make(
    bob,
    '--events',
    'message.created,contact.request',
    '--only-when-offline',
  );
  expect(webhook).toMatchObject({
    event_types: ['message.created', 'contact.request'],
    only_when_offline: true,
  });
  const stored = await service.core.db.webhooks.find(webhook.id);
  expect([stored?.agent_id, stored?.scopes]).toEqual([bob.id, [...scopes]]);
  expect(await json('list', bob.handle)).toEqual({ webhooks: [webhook] });
  expect(await json('show', webhook.id)).toEqual(webhook);
  const changed = webhookSchema.parse(
    await json(
      'update',
      webhook.id,
      '--events',
      'all',
      '--no-only-when-offline',
      '--description',
      'x',
      '--no-enabled',
    ),
  );
  expect(changed).toMatchObject({
    url: webhook.url,
    event_types: null,
    only_when_offline: false,
    description: 'x',
    enabled: false,
    disabled_reason: 'by_request',
  });
  expect(await json('update', webhook.id, '--enabled')).toMatchObject({ enabled: true, description: 'x' });
  const rotated = webhookWithSecretSchema.parse(await json('rotate', webhook.id));
  expect(rotated.secret).not.toBe(secret);
  expect(await json('remove', webhook.id)).toEqual({ id: webhook.id, removed: true });
  expect(await json('list', bob.handle)).toEqual({ webhooks: [] });
});

test('test, deliveries and replay', async () => {
  const bob = await service.agent();
  const { id } = await make(bob);
  expect(await json('test', id)).toMatchObject({ delivered: true, status: 204, error: null });
  expect(receiver.postsAt('/ams').at(-1)?.json).toMatchObject({
    type: 'webhook.test',
    data: { webhook_id: id },
  });
  const events = [newId('event'), newId('event')];
  await service.sql(
    `insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, created_at)
             select $1, event, 'message.created', 1, 'failed', 1 from unnest($2::text[]) event`,
    [id, events],
  );
  const log = z
    .object({ deliveries: z.array(webhookDeliverySchema) })
    .parse(await json('deliveries', id, '--state', 'failed'));
  expect(log.deliveries.map((delivery) => delivery.id)).toEqual(events.toReversed());
  expect(await json('replay', id, events[0] ?? '')).toMatchObject({ id: events[0], state: 'pending' });
  expect(await json('replay', id, '--since', '2020-01-01T00:00Z')).toEqual({ replayed: 1, complete: true });
  expect((await text('deliveries', id)).out).toMatch(
    new RegExp(`^id +${events[1]}\nevent_type +message.created\n`),
  );
});

test('refuses invalid input in one line', async () => {
  const bob = await service.agent();
  const { id } = await make(bob);
  const wrong: [string[], number, RegExp][] = [
    [['create', 'no.body', '--url', 'https://example.com'], 1, /^error: No such agent/],
    [['create', bob.handle], 2, /--url/],
    [['create', bob.handle, '--url', 'https://10.0.0.1'], 1, /^error: url: must lead to a public address\n$/],
    [
      ['create', bob.handle, '--url', 'https://example.com', '--events', 'message.sung'],
      2,
      /Must be all, or some of/,
    ],
    [['show', 'whk_x'], 1, /^error: No such webhook: whk_x\n$/],
    [['test', 'whk_x'], 1, /^error: No such webhook/],
    [['replay', id], 1, /^error: give either an event_id or --since\n$/],
    [['replay', id, 'evt_x'], 1, /^error: This webhook has no such delivery/],
    [['replay', id, '--since', 'soon'], 2, /Must be a date/],
    [['deliveries', id, '--state', 'lost'], 2, /choices/i],
  ];
  for (const [args, code, err] of wrong) {
    const outcome = await text(...args);
    expect([outcome.code, outcome.err], args.join(' ')).toEqual([code, expect.stringMatching(err)]);
  }
});
