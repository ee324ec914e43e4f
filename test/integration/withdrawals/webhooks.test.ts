import { expect, test } from 'vitest';
import { useWebhooks, waitUntil } from '../webhooks/setup.ts';
import { respondWith } from '../../support/servers/webhook-receiver.ts';

const setup = useWebhooks({ pacing: { scheduleMs: [0, ...Array<number>(400).fill(50)] } });

test('a delivery that is tried after the withdrawal has no content, and the withdrawal follows', async () => {
  const bob = await setup.agent();
  const webhook = await setup.webhook(bob, { event_types: ['message.created', 'message.withdrawn'] });
  setup.receiver.setHandler(respondWith(500));
  const { thread_id, from } = await setup.sendMessageTo(bob, 'walnut');
  const posts = (type: string) =>
    setup.receiver.postsAt(webhook.path).filter(({ json }) => json.type === type);
  await waitUntil(() => posts('message.created').length).toBeGreaterThan(0);
  const { body } = await setup.call('GET', `/threads/${thread_id}/messages`, from.token);
  const { id } = body.messages[0];
  expect((await setup.call('POST', `/messages/${id}/withdraw`, from.token)).status).toBe(200);
  setup.receiver.setHandler(respondWith(204));
  const delivered = async () =>
    (await setup.deliveries(bob, webhook)).filter(({ state }) => state === 'delivered').length;
  await waitUntil(delivered).toBe(2);
  expect(posts('message.created').at(-1)?.json.data).toMatchObject({
    id,
    content: '',
    withdrawn_at: expect.any(Number),
  });
  expect(posts('message.withdrawn').at(-1)?.json.data).toMatchObject({ message_id: id, sequence: 1 });
});
