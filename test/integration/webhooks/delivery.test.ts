import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { waitUntil, useWebhooks } from './setup.ts';
import { type ReceivedPost, respondWith } from '../../support/servers/webhook-receiver.ts';

const house = useWebhooks();

const headersOf = ({ headers }: ReceivedPost) => headers as Record<string, string>;
const verify = (secret: string, post: ReceivedPost) => new Webhook(secret).verify(post.text, headersOf(post));

describe('posted requests', () => {
  test('is every event of the feed, signed, in the words of every other door', async () => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob);
    const begin = (await house.call('GET', '/events', bob.token)).body.cursor;
    await house.sendMessageTo(bob, 'Grüße, 你好');
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(2);
    const page = await house.call('GET', `/events?cursor=${begin}`, bob.token);
    const posts = house.receiver.postsAt(webhook.path);
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
    const log = await house.deliveries(bob, webhook);
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

  test('counts as delivered when it is taken', async () => {
    const bob = await house.agent();
    await house.webhook(bob, { event_types: ['message.created'] });
    const { thread_id, from } = await house.sendMessageTo(bob);
    await waitUntil(async () => {
      const { body } = await house.call('GET', `/threads/${thread_id}/receipts`, from.token);
      return body.receipts.find(({ agent }: { agent: { id: string } }) => agent.id === bob.id);
    }).toMatchObject({ delivered_up_to_sequence: 1, read_up_to_sequence: 0 });
  });

  test('is of the types that are named, and no event from before', async () => {
    const bob = await house.agent();
    await house.sendMessageTo(bob);
    const webhook = await house.webhook(bob, { event_types: ['message.created'] });
    await house.sendMessageTo(bob, 'Second');
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(1);
    expect(house.receiver.postsAt(webhook.path)[0]?.json).toMatchObject({
      type: 'message.created',
      data: { content: 'Second' },
    });
    expect(await house.deliveries(bob, webhook)).toHaveLength(1);
  });

  test('is what the token could see that made the webhook', async () => {
    const bob = await house.agent();
    const narrow = await house.token(bob.handle, ['agents:write', 'contacts:read']);
    const [all, some] = [await house.webhook(bob), await house.webhook({ token: narrow })];
    const { from } = await house.sendMessageTo(bob);
    await house.call('POST', '/contacts/requests', from.token, { handle: bob.handle });
    await waitUntil(() => house.receiver.postsAt(all.path).length).toBe(3);
    await waitUntil(() => house.receiver.postsAt(some.path).length).toBe(1);
    expect(house.receiver.postsAt(some.path)[0]?.json.type).toBe('contact.request');
    expect(await house.deliveries(bob, some)).toHaveLength(1);
  });

  test('is nothing while the agent is online, where it is for offline times only', async () => {
    const { presence } = house.core.repositories;
    const bob = await house.agent();
    const webhook = await house.webhook(bob, { only_when_offline: true, event_types: ['message.created'] });
    const always = await house.webhook(bob);
    await presence.insert('a process of its own', [bob.id]);
    await house.sendMessageTo(bob, 'While online');
    await waitUntil(() => house.receiver.postsAt(always.path).length).toBe(2);
    expect(await house.deliveries(bob, webhook)).toEqual([]);
    await presence.remove('a process of its own');
    house.receiver.setHandler((response, post) => {
      if (post.path !== webhook.path) response.writeHead(204).end();
      // It comes back while the first attempt is under way.
      else void presence.insert('a process of its own', [bob.id]).then(() => response.writeHead(503).end());
    });
    await house.sendMessageTo(bob, 'While offline');
    await waitUntil(() => house.deliveries(bob, webhook)).toEqual([
      expect.objectContaining({ state: 'skipped', attempts: 1, last_status: 503, next_at: null }),
    ]);
    expect(house.receiver.postsAt(webhook.path).map(({ json }) => json.data.content)).toEqual([
      'While offline',
    ]);
    await presence.remove('a process of its own');
    house.receiver.setHandler(respondWith(204));
  });

  test('has two signatures after a rotation, and one key alone after another rotation', async () => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob, { event_types: ['message.created'] });
    const rotate = () => house.call('POST', `/webhooks/${webhook.id}/rotate-secret`, bob.token);
    const second = (await rotate()).body;
    expect(second.previous_secret_until).toBeGreaterThan(Date.now() + 86_000_000);
    await house.sendMessageTo(bob);
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(1);
    const [first] = house.receiver.postsAt(webhook.path);
    if (!first) throw new Error('nothing was posted');
    expect(headersOf(first)['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [webhook.secret, second.secret]) expect(verify(secret, first)).toEqual(first.json);
    const third = (await rotate()).body;
    await house.sendMessageTo(bob);
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(2);
    const last = house.receiver.postsAt(webhook.path)[1];
    if (!last) throw new Error('nothing was posted');
    expect(() => verify(webhook.secret, last)).toThrow('No matching signature');
    for (const secret of [second.secret, third.secret]) expect(verify(secret, last)).toEqual(last.json);
    await house.core.database.query({ text: 'update webhooks set previous_secret_until = 0 where id = $1' }, [
      webhook.id,
    ]);
    await house.sendMessageTo(bob);
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(3);
    expect(house.receiver.postsAt(webhook.path)[2]?.headers['webhook-signature']).not.toContain(' ');
  });
});

describe('failed deliveries', () => {
  test('is posted again with the same id and body, and then is delivered', async () => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob, { event_types: ['message.created'] });
    house.receiver.setHandler((response, post) => {
      const first = house.receiver.postsAt(post.path).length < 3;
      response.writeHead(post.path === webhook.path && first ? 503 : 200).end();
    });
    await house.sendMessageTo(bob);
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(3);
    const posts = house.receiver.postsAt(webhook.path);
    expect(new Set(posts.map(({ text }) => text)).size).toBe(1);
    expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await waitUntil(() => house.deliveries(bob, webhook)).toEqual([
      expect.objectContaining({ state: 'delivered', attempts: 3, last_status: 200 }),
    ]);
  });

  test('to the end of the schedule disables, says why, and begins anew when it is enabled', async () => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob, { event_types: ['message.created'] });
    house.receiver.setHandler(respondWith(500));
    await house.sendMessageTo(bob, 'Lost at first');
    const shown = async () => (await house.call('GET', `/webhooks/${webhook.id}`, bob.token)).body;
    await waitUntil(shown).toMatchObject({
      enabled: false,
      disabled_reason: 'failing',
      disabled_at: expect.any(Number),
    });
    expect(house.receiver.postsAt(webhook.path)).toHaveLength(3);
    expect(await house.deliveries(bob, webhook, '?state=failed')).toEqual([
      expect.objectContaining({ attempts: 3, next_at: null, last_status: 500 }),
    ]);
    await house.sendMessageTo(bob, 'While disabled');
    house.receiver.setHandler(respondWith(200));
    const refused = await house.call('POST', `/webhooks/${webhook.id}/replay`, bob.token, { since: 0 });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
    const enabled = await house.call('PATCH', `/webhooks/${webhook.id}`, bob.token, { enabled: true });
    expect(enabled.body).toMatchObject({ enabled: true, disabled_reason: null, disabled_at: null });
    const replayed = await house.call('POST', `/webhooks/${webhook.id}/replay`, bob.token, { since: 0 });
    expect(replayed.body).toEqual({ replayed: 1, complete: true });
    await house.sendMessageTo(bob, 'After that');
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(5);
    const last = house.receiver.postsAt(webhook.path).slice(3);
    expect(new Set(last.map(({ json }) => json.data.content))).toEqual(
      new Set(['After that', 'Lost at first']),
    );
  });

  test('is given up at once when the receiver says that it is gone', async () => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob);
    house.receiver.setHandler(respondWith(410));
    await house.sendMessageTo(bob);
    await waitUntil(
      async () => (await house.call('GET', `/webhooks/${webhook.id}`, bob.token)).body,
    ).toMatchObject({ enabled: false, disabled_reason: 'gone' });
    const log = await house.deliveries(bob, webhook);
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
    Parameters<typeof house.receiver.setHandler>[0],
    number | null,
    string,
  ])[])('stands in the log with %s', async (_what, answer, last_status, last_error) => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob, { event_types: ['message.created'] });
    house.receiver.setHandler(answer);
    await house.sendMessageTo(bob);
    await waitUntil(() => house.deliveries(bob, webhook, '?state=failed')).toEqual([
      expect.objectContaining({ last_status, last_error }),
    ]);
    expect(house.receiver.postsAt('/elsewhere')).toEqual([]);
    expect(house.receiver.postsAt(webhook.path)).toHaveLength(3);
    house.receiver.setHandler(respondWith(200));
  });

  test('does not disable while other events get through', async () => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob, { event_types: ['message.created'] });
    // The first attempt hangs until another event is there to be posted.
    let release = () => undefined as void;
    house.receiver.setHandler((response, post) => {
      const answer = () => void response.writeHead(post.json.data.content === 'Poison' ? 500 : 200).end();
      if (house.receiver.postsAt(webhook.path).length > 1) answer();
      else release = answer;
    });
    await house.sendMessageTo(bob, 'Poison');
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(1);
    await house.sendMessageTo(bob, 'Fine');
    await waitUntil(() => house.deliveries(bob, webhook)).toHaveLength(2);
    release();
    await waitUntil(() => house.deliveries(bob, webhook, '?state=failed')).toHaveLength(1);
    expect((await house.call('GET', `/webhooks/${webhook.id}`, bob.token)).body.enabled).toBe(true);
  });
});

describe('a replay', () => {
  test('posts a delivered event once more', async () => {
    const bob = await house.agent();
    house.receiver.setHandler(respondWith(200));
    const webhook = await house.webhook(bob, { event_types: ['message.created'] });
    await house.sendMessageTo(bob);
    await waitUntil(() => house.deliveries(bob, webhook, '?state=delivered')).toHaveLength(1);
    const id = house.receiver.postsAt(webhook.path)[0]?.json.id;
    const replay = await house.call('POST', `/webhooks/${webhook.id}/deliveries/${id}/replay`, bob.token);
    expect(replay.body).toMatchObject({ id, state: 'pending', attempts: 0 });
    await waitUntil(() => house.receiver.postsAt(webhook.path).length).toBe(2);
    const [first, second] = house.receiver.postsAt(webhook.path);
    expect(second?.text).toBe(first?.text);
    await waitUntil(() => house.deliveries(bob, webhook, '?state=delivered')).toHaveLength(1);
  });

  test('is not for what was never noted', async () => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob);
    for (const id of ['evt_01K9ZX6Q8T1V5X7Y9Z1B3D4E5F', 'nonsense', '%00']) {
      const answer = await house.call('POST', `/webhooks/${webhook.id}/deliveries/${id}/replay`, bob.token);
      expect([answer.status, answer.body.error.code]).toEqual(
        id === '%00' ? [400, 'VALIDATION_ERROR'] : [404, 'NOT_FOUND'],
      );
    }
  });
});

describe('a test', () => {
  test('posts at once, signed, and tells the status and nothing else', async () => {
    const bob = await house.agent();
    const webhook = await house.webhook(bob);
    house.receiver.setHandler((response) => void response.writeHead(418).end('my own words'));
    const answer = await house.call('POST', `/webhooks/${webhook.id}/test`, bob.token);
    expect([answer.status, answer.body]).toEqual([200, { delivered: false, status: 418, error: null }]);
    const [post] = house.receiver.postsAt(webhook.path);
    if (!post) throw new Error('nothing was posted');
    expect(verify(webhook.secret, post)).toEqual({
      type: 'webhook.test',
      id: expect.stringMatching(/^evt_/),
      cursor: expect.any(String),
      created_at: expect.any(Number),
      data: { webhook_id: webhook.id },
    });
    house.receiver.setHandler(respondWith(204));
    const page = await house.call('GET', `/events?cursor=${post.json.cursor}`, bob.token);
    expect(page.body.events).toEqual([]);
    const again = await house.call('POST', `/webhooks/${webhook.id}/test`, bob.token);
    expect(again.body).toEqual({ delivered: true, status: 204, error: null });
    expect(await house.deliveries(bob, webhook)).toEqual([]);
  });
});
