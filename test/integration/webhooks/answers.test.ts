import { expect, test } from 'vitest';
import { respondWith } from '../../support/servers/webhook-receiver.ts';
import { useWebhooks, waitUntil } from './setup.ts';

const setup = useWebhooks();

test('a failed delivery keeps the beginning of the answer and how long it took', async () => {
  const bob = await setup.agent();
  const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
  const text = `no such \0 table: ${'é'.repeat(1_000)}`;
  setup.receiver.setHandler((response) => void response.writeHead(500).end(text));
  await setup.sendMessageTo(bob);
  await waitUntil(() => setup.deliveries(bob, webhook, '?state=failed')).toHaveLength(1);
  const [delivery] = await setup.deliveries(bob, webhook);
  expect(delivery).toMatchObject({ last_status: 500, last_error: null });
  expect(delivery?.last_duration_ms).toBeGreaterThanOrEqual(0);
  expect(delivery?.last_response).toMatch(/^no such \uFFFD table: é{480,510}/);

  const tested = await setup.call('POST', `/webhooks/${webhook.id}/test`, bob.token);
  expect(tested.body).toMatchObject({ delivered: false, status: 500, error: null });
  expect(tested.body.response).toMatch(/^no such/);
  setup.receiver.setHandler(respondWith(200));
  expect((await setup.call('POST', `/webhooks/${webhook.id}/test`, bob.token)).body).toMatchObject({
    delivered: true,
    response: null,
  });
});
