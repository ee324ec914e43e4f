import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createTestDelivery, type FeedEvent, verifyWebhook } from '../../../packages/client/src/main.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;
const event = {
  type: 'message.created',
  id: 'evt_1',
  cursor: '1',
  created_at: 1,
  data: { content: 'Grüße' },
} as unknown as FeedEvent;
const refused = { name: 'WebhookVerificationError', code: 'INVALID_WEBHOOK' };

test('signing and verifying match the Standard Webhooks library', async () => {
  const { headers, body } = await createTestDelivery(event, secret);
  expect(new Webhook(secret).verify(body, headers)).toEqual(event);
  expect(await verifyWebhook(body, headers, secret)).toEqual(event);
  expect(await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), secret)).toEqual(event);
  // While a secret is changed, there are two signatures.
  const two = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
  expect(await verifyWebhook(body, two, secret)).toEqual(event);
});

test('verifying rejects other bodies, secrets, ids, times and signatures', async () => {
  const { headers, body } = await createTestDelivery(event, secret);
  const other = `whsec_${Buffer.from('another secret').toString('base64')}`;
  const old = await createTestDelivery(event, secret, Date.now() - 301_000);
  const cases: [string, Record<string, string>, string][] = [
    [`${body} `, headers, secret],
    [body, headers, other],
    [body, { ...headers, 'webhook-id': 'evt_2' }, secret],
    [body, { ...headers, 'webhook-timestamp': '' }, secret],
    [body, { ...headers, 'webhook-signature': 'v1,???' }, secret],
    [body, { ...headers, 'webhook-signature': '' }, secret],
    [body, {}, secret],
    [old.body, old.headers, secret],
  ];
  for (const [text, given, key] of cases) {
    await expect(verifyWebhook(text, given, key)).rejects.toMatchObject(refused);
  }
  for (const malformed of ['not a secret', '', 'whsec_', 'whsec_!', secret.slice(6)])
    await expect(verifyWebhook(body, headers, malformed)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('whsec_'),
    });
  expect(await verifyWebhook(old.body, old.headers, secret, { toleranceSeconds: 600 })).toEqual(event);
});
