import { outcomeOf } from '../../clients/rest.ts';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import type { Core } from '../../../src/compose.ts';
import { createSealedBox } from '../../../src/shared/encryption.ts';
import { maintenance } from '../../../src/jobs/maintenance.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { waitUntil, useWebhooks } from './setup.ts';
import { respondWith } from '../../support/servers/webhook-receiver.ts';
import { override } from '../../support/override.ts';

let sweeps = 0;

/** Runs the sweep that the scheduler starts every few seconds. */
function sweep({ queues }: Core): Promise<void> {
  const { queue, name, attempts, backoff_ms } = maintenance;
  const payload = { version: 1, task: 'sweep-webhooks' };
  return queues.enqueue([{ queue, name, id: `sweep-now-${(sweeps += 1)}`, payload, attempts, backoff_ms }]);
}

describe('a worker that dies after a post and before it records it', () => {
  let faults = 0;
  const setup = useWebhooks({
    pacing: { leaseMs: 300 },
    worker(core) {
      const { webhookDeliveries } = core.db;
      const recordAttempt: typeof webhookDeliveries.recordAttempt = async (...args) => {
        if (faults > 0) {
          faults -= 1;
          throw new Error('gone in the middle');
        }
        return webhookDeliveries.recordAttempt(...args);
      };
      const db = override(core.db, {
        webhookDeliveries: { ...webhookDeliveries, recordAttempt },
      });
      return { ...core, db };
    },
  });

  test('leaves the event for another attempt', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    faults = 1;
    await setup.sendMessageTo(bob);
    await waitUntil(() => faults).toBe(0);
    await waitUntil(async () => {
      await sweep(setup.core);
      return setup.receiver.postsAt(webhook.path).length;
    }).toBe(2);
    await waitUntil(() => setup.deliveries(bob, webhook, '?state=delivered')).toHaveLength(1);
    const [first, second] = setup.receiver.postsAt(webhook.path);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  });
});

await describeWithRedis('a flushed Redis', () => {
  const setup = useWebhooks({ backend: 'redis', pacing: { scheduleMs: [0, 1_000, 0], leaseMs: 60_000 } });

  test('costs no attempt: the sweep finds due deliveries', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    setup.receiver.setHandler(respondWith(503));
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.deliveries(bob, webhook)).toEqual([
      expect.objectContaining({ state: 'pending', attempts: 1, last_status: 503 }),
    ]);
    setup.receiver.setHandler(respondWith(204));
    const redis = new Redis(setup.core.config.REDIS_URL ?? '');
    await redis.flushall();
    redis.disconnect();
    await waitUntil(async () => {
      await sweep(setup.core);
      return setup.deliveries(bob, webhook, '?state=delivered');
    }).toHaveLength(1);
    expect(setup.receiver.postsAt(webhook.path)).toHaveLength(2);
  });
});

describe('a receiver that does not answer', () => {
  const setup = useWebhooks({ pacing: { scheduleMs: [0], maxParallel: 2 }, timeoutMs: 3_000 });

  test('delays only its own events, a few at a time', async () => {
    const [bob, carol] = [await setup.agent(), await setup.agent()];
    const slow = await setup.webhook(bob, { event_types: ['message.created'] });
    const swift = await setup.webhook(carol, { event_types: ['message.created'] });
    setup.receiver.setHandler((response, post) => {
      if (post.path === swift.path) response.writeHead(204).end();
    });
    for (const _ of [1, 2, 3]) await setup.sendMessageTo(bob);
    await waitUntil(() => setup.receiver.postsAt(slow.path).length).toBe(2);
    await setup.sendMessageTo(carol);
    await waitUntil(() => setup.receiver.postsAt(swift.path).length).toBe(1);
    expect(setup.receiver.postsAt(slow.path)).toHaveLength(2);

    await waitUntil(() => setup.deliveries(bob, slow, '?state=failed')).toHaveLength(3);
    const errors = (await setup.deliveries(bob, slow)).map(({ last_error }) => last_error);
    expect(errors).toContain('no answer within 3 s');
    const shown = await setup.call('GET', `/webhooks/${slow.id}`, bob.token);
    expect(shown.body).toMatchObject({ enabled: false, disabled_reason: 'failing' });
  });
});

describe('an event that fails for a whole schedule while others are delivered', () => {
  // The other event has two seconds, also on a busy machine.
  const setup = useWebhooks({ pacing: { scheduleMs: [0, 2_000, 0] } });

  test('does not disable the webhook', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    // The first attempt hangs until there is another event to post.
    let release = () => undefined as void;
    setup.receiver.setHandler((response, post) => {
      const answer = () => void response.writeHead(post.json.data.content === 'Poison' ? 500 : 200).end();
      if (setup.receiver.postsAt(webhook.path).length > 1) answer();
      else release = answer;
    });
    await setup.sendMessageTo(bob, 'Poison');
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(1);
    await setup.sendMessageTo(bob, 'Fine');
    await waitUntil(() => setup.deliveries(bob, webhook)).toHaveLength(2);
    release();
    await waitUntil(() => setup.deliveries(bob, webhook, '?state=failed')).toHaveLength(1);
    expect((await setup.call('GET', `/webhooks/${webhook.id}`, bob.token)).body.enabled).toBe(true);
  });
});

describe('a webhook that gets new events before the old ones are retried', () => {
  const hour = 3_600_000;
  const setup = useWebhooks({ pacing: { scheduleMs: [0, hour] } });

  test('is disabled when every attempt has failed for a whole schedule', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    const shown = async () => (await setup.call('GET', `/webhooks/${webhook.id}`, bob.token)).body;
    const attempted = async (status: number) => {
      setup.receiver.setHandler(respondWith(status));
      await setup.sendMessageTo(bob);
      await waitUntil(async () => (await setup.deliveries(bob, webhook))[0]?.last_status).toBe(status);
    };
    const pass = async (ms = hour, columns = ['failing_since']) => {
      // The worker has ended its turn.
      const active = async () => (await setup.core.queues.depths()).map((queue) => queue.active);
      await waitUntil(async () => Math.max(...(await active()))).toBe(0);
      const changes = columns.map((column) => `${column} = ${column} - $1`).join();
      const text = `update webhooks set ${changes} where id = $2`;
      await setup.core.database.query({ text }, [ms, webhook.id]);
    };
    await attempted(503);
    await pass();
    await attempted(204);
    await attempted(500);
    expect(await shown()).toMatchObject({ enabled: true });
    // No worker attempts anything for four days.
    await pass(96 * hour, ['failing_since', 'failed_at']);
    await attempted(504);
    await pass();
    expect(await shown()).toMatchObject({ enabled: true });
    await attempted(502);
    await waitUntil(shown).toMatchObject({ enabled: false, disabled_reason: 'failing' });
    expect(await setup.deliveries(bob, webhook, '?state=failed')).toHaveLength(4);
    await setup.call('PATCH', `/webhooks/${webhook.id}`, bob.token, { enabled: true });
    await attempted(501);
    await pass();
    // Events that its token may not see are skipped, so nothing failed is left to attempt.
    const skip = `update webhooks set scopes = '{}' where id = $1`;
    await setup.core.database.query({ text: skip }, [webhook.id]);
    await setup.call('POST', `/webhooks/${webhook.id}/replay`, bob.token, { since: 0 });
    await waitUntil(() => setup.deliveries(bob, webhook, '?state=skipped')).toHaveLength(4);
    const allow = `update webhooks set scopes = '{threads:read}' where id = $1`;
    await setup.core.database.query({ text: allow }, [webhook.id]);
    await attempted(502);
    expect(await shown()).toMatchObject({ enabled: true });
  });
});

describe('a webhook with a backlog', () => {
  const setup = useWebhooks();

  test('does not keep the sweep from other webhooks', async () => {
    // Due later than any sweep of this service.
    const later = Date.now() + 3_600_000;
    await setup.core.database.query(
      {
        text: `insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, next_at, created_at)
          select 'whk_far', 'evt_' || n, 'message.created', n, 'pending', $1::bigint + n, 1 from generate_series(1, 1100) n
          union all select 'whk_near', 'evt_1', 'message.created', 1, 'pending', $1::bigint + 5000, 1
          union all select 'whk_next', 'evt_1', 'message.created', 1, 'pending', $1::bigint + 9000, 1`,
      },
      [later],
    );
    const { listDueWebhooks } = setup.core.db.webhookDeliveries;
    expect(await listDueWebhooks(later + 6_000, '', 1_000)).toEqual(['whk_far', 'whk_near']);
    expect(await listDueWebhooks(later + 9_000, '', 2)).toEqual(['whk_far', 'whk_near']);
    expect(await listDueWebhooks(later + 9_000, 'whk_near', 2)).toEqual(['whk_next']);
    expect(await listDueWebhooks(later, '', 2)).toEqual([]);
  });
});

describe('a changed SECRET_KEY', () => {
  const setup = useWebhooks({
    worker(core) {
      return { ...core, settings: { ...core.settings, sealedBox: createSealedBox([Buffer.alloc(32)]) } };
    },
  });

  test('ends unsignable deliveries with a clear error', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.deliveries(bob, webhook)).toMatchObject([
      { state: 'failed', last_status: null, last_error: 'the signing secret cannot be read; rotate it' },
    ]);
    // The API reports a secret that it cannot decrypt too.
    const sealed = createSealedBox([Buffer.alloc(32)]).seal(webhook.secret, webhook.id);
    await setup.core.database.query({ text: 'update webhooks set secret = $1 where id = $2' }, [
      sealed,
      webhook.id,
    ]);
    const tried = await setup.call('POST', `/webhooks/${webhook.id}/test`, bob.token);
    expect(outcomeOf(tried)).toBe('409 INVALID_TRANSITION');
    await setup.call('POST', `/webhooks/${webhook.id}/rotate-secret`, bob.token);
    expect((await setup.call('POST', `/webhooks/${webhook.id}/test`, bob.token)).status).toBe(200);
  });
});
