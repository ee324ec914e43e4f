import { outcomeOf } from '../../clients/rest.ts';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { waitUntil, useWebhooks } from './setup.ts';
import { type ReceivedPost, respondWith } from '../../support/servers/webhook-receiver.ts';

const setup = useWebhooks();

const headersOf = ({ headers }: ReceivedPost) => headers as Record<string, string>;
const verify = (secret: string, post: ReceivedPost) => new Webhook(secret).verify(post.text, headersOf(post));

describe('posted requests', () => {
  test('are every event of the feed, signed, in the same form as on every other transport', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob);
    const begin = (await setup.call('GET', '/events', bob.token)).body.cursor;
    await setup.sendMessageTo(bob, 'Grüße, 你好');
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(2);
    const page = await setup.call('GET', `/events?cursor=${begin}`, bob.token);
    const posts = setup.receiver.postsAt(webhook.path);
    const inOrder = posts.toSorted((a, b) => (a.json.id < b.json.id ? -1 : 1)).map(({ json }) => json);
    expect(inOrder).toEqual(page.body.events);
    for (const post of posts) {
      expect(verify(webhook.secret, post)).toEqual(post.json);
      expect(post.headers).toMatchObject({
        'webhook-id': post.json.id,
        'content-type': 'application/json',
        'user-agent': 'test',
      });
      expect(() => verify(webhook.secret, { ...post, text: `${post.text} ` })).toThrow(
        'No matching signature',
      );
    }
    const log = await setup.deliveries(bob, webhook);
    expect(
      log.map(({ id, state, attempts, last_status, last_error }) => [
        id,
        state,
        attempts,
        last_status,
        last_error,
      ]),
    ).toEqual(page.body.events.toReversed().map(({ id }: { id: string }) => [id, 'delivered', 1, 204, null]));
  });

  test('count as delivered on success', async () => {
    const bob = await setup.agent();
    await setup.webhook(bob, { event_types: ['message.created'] });
    const { thread_id, from } = await setup.sendMessageTo(bob);
    await waitUntil(async () => {
      const { body } = await setup.call('GET', `/threads/${thread_id}/receipts`, from.token);
      return body.receipts.find(({ agent }: { agent: { id: string } }) => agent.id === bob.id);
    }).toMatchObject({ delivered_up_to_sequence: 1, read_up_to_sequence: 0 });
  });

  test('are of the configured types, and not of earlier events', async () => {
    const bob = await setup.agent();
    await setup.sendMessageTo(bob);
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    await setup.sendMessageTo(bob, 'Second');
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(1);
    expect(setup.receiver.postsAt(webhook.path)[0]?.json).toMatchObject({
      type: 'message.created',
      data: { content: 'Second' },
    });
    expect(await setup.deliveries(bob, webhook)).toHaveLength(1);
  });

  test('are limited to the events visible to the token that created the webhook', async () => {
    const bob = await setup.agent();
    const narrow = await setup.token(bob.handle, ['agents:write', 'contacts:read']);
    const [all, some] = [await setup.webhook(bob), await setup.webhook({ token: narrow })];
    const { from } = await setup.sendMessageTo(bob);
    await setup.call('POST', '/contacts/requests', from.token, { handle: bob.handle });
    await waitUntil(() => setup.receiver.postsAt(all.path).length).toBe(3);
    await waitUntil(() => setup.receiver.postsAt(some.path).length).toBe(1);
    expect(setup.receiver.postsAt(some.path)[0]?.json.type).toBe('contact.request');
    expect(await setup.deliveries(bob, some)).toHaveLength(1);
  });

  test('are omitted while the agent is online, if the webhook is for offline times only', async () => {
    const { presence } = setup.core.db;
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { only_when_offline: true, event_types: ['message.created'] });
    const always = await setup.webhook(bob);
    await presence.insert('another process', [bob.id]);
    await setup.sendMessageTo(bob, 'While online');
    await waitUntil(() => setup.receiver.postsAt(always.path).length).toBe(2);
    expect(await setup.deliveries(bob, webhook)).toEqual([]);
    await presence.remove('another process');
    setup.receiver.setHandler((response, post) => {
      if (post.path !== webhook.path) response.writeHead(204).end();
      // The agent comes online during the first attempt.
      else void presence.insert('another process', [bob.id]).then(() => response.writeHead(503).end());
    });
    await setup.sendMessageTo(bob, 'While offline');
    await waitUntil(() => setup.deliveries(bob, webhook)).toEqual([
      expect.objectContaining({ state: 'skipped', attempts: 1, last_status: 503, next_at: null }),
    ]);
    expect(setup.receiver.postsAt(webhook.path).map(({ json }) => json.data.content)).toEqual([
      'While offline',
    ]);
    await presence.remove('another process');
    setup.receiver.setHandler(respondWith(204));
  });

  test('have two signatures after a rotation, and one after the old secret expires', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    const rotate = () => setup.call('POST', `/webhooks/${webhook.id}/rotate-secret`, bob.token);
    const second = (await rotate()).body;
    expect(second.previous_secret_until).toBeGreaterThan(Date.now() + 86_000_000);
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(1);
    const [first] = setup.receiver.postsAt(webhook.path);
    if (!first) throw new Error('nothing was posted');
    expect(headersOf(first)['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [webhook.secret, second.secret]) expect(verify(secret, first)).toEqual(first.json);
    const third = (await rotate()).body;
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(2);
    const last = setup.receiver.postsAt(webhook.path)[1];
    if (!last) throw new Error('nothing was posted');
    expect(() => verify(webhook.secret, last)).toThrow('No matching signature');
    for (const secret of [second.secret, third.secret]) expect(verify(secret, last)).toEqual(last.json);
    await setup.core.database.query({ text: 'update webhooks set previous_secret_until = 0 where id = $1' }, [
      webhook.id,
    ]);
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(3);
    expect(setup.receiver.postsAt(webhook.path)[2]?.headers['webhook-signature']).not.toContain(' ');
  });
});

describe('failed deliveries', () => {
  test('are posted again with the same id and body until delivered', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    setup.receiver.setHandler((response, post) => {
      const first = setup.receiver.postsAt(post.path).length < 3;
      response.writeHead(post.path === webhook.path && first ? 503 : 200).end();
    });
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(3);
    const posts = setup.receiver.postsAt(webhook.path);
    expect(new Set(posts.map(({ text }) => text)).size).toBe(1);
    expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await waitUntil(() => setup.deliveries(bob, webhook)).toEqual([
      expect.objectContaining({ state: 'delivered', attempts: 3, last_status: 200 }),
    ]);
  });

  test('disable the webhook at the end of the schedule with a reason, and restart when it is enabled', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    setup.receiver.setHandler(respondWith(500));
    await setup.sendMessageTo(bob, 'Lost at first');
    const shown = async () => (await setup.call('GET', `/webhooks/${webhook.id}`, bob.token)).body;
    await waitUntil(shown).toMatchObject({
      enabled: false,
      disabled_reason: 'failing',
      disabled_at: expect.any(Number),
    });
    expect(setup.receiver.postsAt(webhook.path)).toHaveLength(3);
    expect(await setup.deliveries(bob, webhook, '?state=failed')).toEqual([
      expect.objectContaining({ attempts: 3, next_at: null, last_status: 500 }),
    ]);
    await setup.sendMessageTo(bob, 'While disabled');
    setup.receiver.setHandler(respondWith(200));
    const refused = await setup.call('POST', `/webhooks/${webhook.id}/replay`, bob.token, { since: 0 });
    expect(outcomeOf(refused)).toBe('409 INVALID_TRANSITION');
    const enabled = await setup.call('PATCH', `/webhooks/${webhook.id}`, bob.token, { enabled: true });
    expect(enabled.body).toMatchObject({ enabled: true, disabled_reason: null, disabled_at: null });
    const replayed = await setup.call('POST', `/webhooks/${webhook.id}/replay`, bob.token, { since: 0 });
    expect(replayed.body).toEqual({ replayed: 1, complete: true });
    await setup.sendMessageTo(bob, 'After that');
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(5);
    const last = setup.receiver.postsAt(webhook.path).slice(3);
    expect(new Set(last.map(({ json }) => json.data.content))).toEqual(
      new Set(['After that', 'Lost at first']),
    );
  });

  test('are abandoned immediately when the receiver responds 410 Gone', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob);
    setup.receiver.setHandler(respondWith(410));
    await setup.sendMessageTo(bob);
    await waitUntil(
      async () => (await setup.call('GET', `/webhooks/${webhook.id}`, bob.token)).body,
    ).toMatchObject({ enabled: false, disabled_reason: 'gone' });
    const log = await setup.deliveries(bob, webhook);
    expect(log.map(({ state }) => state)).toEqual(['failed', 'failed']);
    expect(log.map(({ last_status }) => last_status)).toContain(410);
  });

  test.each([
    ['a redirect', respondWith(307, { location: '/elsewhere' }), 307, 'redirects are not followed'],
    ['no HTTP', (response) => void response.socket?.end('nonsense\r\n\r\n'), null, 'the answer is not HTTP'],
    [
      'a connection that breaks',
      (response) => void response.socket?.destroy(),
      null,
      'the connection broke off',
    ],
  ] as const satisfies readonly (readonly [
    string,
    Parameters<typeof setup.receiver.setHandler>[0],
    number | null,
    string,
  ])[])('are logged after %s', async (_what, answer, last_status, last_error) => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    setup.receiver.setHandler(answer);
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.deliveries(bob, webhook, '?state=failed')).toEqual([
      expect.objectContaining({ attempts: 3, last_status, last_error }),
    ]);
    expect(setup.receiver.postsAt('/elsewhere')).toEqual([]);
    // An attempt on a reused connection is repeated when the connection is reset.
    const posts = setup.receiver.postsAt(webhook.path).length;
    expect([3, 4]).toContain(posts);
    setup.receiver.setHandler(respondWith(200));
  });
});

describe('a replay', () => {
  test('posts a delivered event again', async () => {
    const bob = await setup.agent();
    setup.receiver.setHandler(respondWith(200));
    const webhook = await setup.webhook(bob, { event_types: ['message.created'] });
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.deliveries(bob, webhook, '?state=delivered')).toHaveLength(1);
    const id = setup.receiver.postsAt(webhook.path)[0]?.json.id;
    const replay = await setup.call('POST', `/webhooks/${webhook.id}/deliveries/${id}/replay`, bob.token);
    expect(replay.body).toMatchObject({ id, state: 'pending', attempts: 0 });
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBe(2);
    const [first, second] = setup.receiver.postsAt(webhook.path);
    expect(second?.text).toBe(first?.text);
    await waitUntil(() => setup.deliveries(bob, webhook, '?state=delivered')).toHaveLength(1);
  });

  test('is refused for an event without a delivery', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob);
    for (const id of ['evt_01K9ZX6Q8T1V5X7Y9Z1B3D4E5F', 'nonsense', '%00']) {
      const answer = await setup.call('POST', `/webhooks/${webhook.id}/deliveries/${id}/replay`, bob.token);
      expect(outcomeOf(answer)).toEqual(id === '%00' ? '400 VALIDATION_ERROR' : '404 NOT_FOUND');
    }
  });
});

describe('a test event', () => {
  test('is posted immediately and signed, and reports the status', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob);
    setup.receiver.setHandler((response) => void response.writeHead(418).end('a custom body'));
    const answer = await setup.call('POST', `/webhooks/${webhook.id}/test`, bob.token);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ delivered: false, status: 418, error: null });
    const [post] = setup.receiver.postsAt(webhook.path);
    if (!post) throw new Error('nothing was posted');
    expect(verify(webhook.secret, post)).toEqual({
      type: 'webhook.test',
      id: expect.stringMatching(/^evt_/),
      cursor: expect.any(String),
      created_at: expect.any(Number),
      data: { webhook_id: webhook.id },
    });
    setup.receiver.setHandler(respondWith(204));
    const page = await setup.call('GET', `/events?cursor=${post.json.cursor}`, bob.token);
    expect(page.body.events).toEqual([]);
    const again = await setup.call('POST', `/webhooks/${webhook.id}/test`, bob.token);
    expect(again.body).toMatchObject({ delivered: true, status: 204, error: null });
    expect(await setup.deliveries(bob, webhook)).toEqual([]);
  });
});
