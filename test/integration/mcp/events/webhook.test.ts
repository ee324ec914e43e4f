import { expect, test } from 'vitest';
import { waitUntil } from '../../webhooks/setup.ts';
import { isSignedBy, newSecret, useEventWebhooks } from './webhook-setup.ts';

const service = useEventWebhooks();

test('a challenge comes first, then each event, signed with the secret of the client', async () => {
  const { reader, say, writer } = await service.pair();
  const token = await service.credentialToken(reader);
  const { path, secret, params } = service.target();
  const subscribed = await service.subscribe(token, params);
  expect(subscribed).toMatchObject({
    id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
    refreshBefore: expect.any(String),
    cursor: expect.any(String),
    truncated: false,
  });
  expect(subscribed).not.toHaveProperty('deliveryStatus');
  const lifeMs = Date.parse(subscribed.refreshBefore) - Date.now();
  expect(Math.abs(lifeMs - 24 * 3_600_000)).toBeLessThan(60_000);
  const [challenge] = service.receiver.challengesAt(path);
  expect(challenge?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': expect.stringMatching(/^msg_verification_/),
    'x-mcp-subscription-id': subscribed.id,
  });
  expect(challenge && isSignedBy(secret, challenge)).toBe(true);
  await say('Hello.');
  await waitUntil(() => service.contents(path)).toEqual(['Hello.']);
  const [post] = service.receiver.at(path);
  expect(post?.json).toMatchObject({
    eventId: post?.headers['webhook-id'],
    name: 'message.created',
    timestamp: expect.any(String),
    data: { content: 'Hello.', sender: { canonical_handle: writer.handle } },
  });
  expect(post?.headers['x-mcp-subscription-id']).toBe(subscribed.id);
  expect(post && isSignedBy(secret, post)).toBe(true);
  // The cursor is that of every transport: after it there is nothing.
  const poll = { name: 'message.created', cursor: post?.json.cursor };
  expect((await service.call(token, 'events/poll', poll)).result).toMatchObject({
    events: [],
    truncated: false,
  });
});

test('the same target is one subscription: a refresh renews it, tells its state, and rotates the secret', async () => {
  const { token, say, thread_id } = await service.pair();
  const { path, secret, params } = service.target({ arguments: { thread_id, only_mentions: false } });
  const first = await service.subscribe(token, params);
  await say('One.');
  await waitUntil(() => service.contents(path)).toEqual(['One.']);
  await waitUntil(async () => (await service.row(first.id)).last_delivery_at).not.toBeNull();
  const next = newSecret();
  const renewed = await service.subscribe(token, {
    ...params,
    arguments: { only_mentions: false, thread_id },
    cursor: first.cursor,
    delivery: { ...params.delivery, secret: next },
    ttlMs: 120_000,
  });
  expect(renewed).toMatchObject({
    id: first.id,
    truncated: false,
    deliveryStatus: { active: true, lastDeliveryAt: expect.any(String), lastError: null },
  });
  expect(renewed.cursor).not.toBe(first.cursor);
  const lifeMs = Date.parse(renewed.refreshBefore) - Date.now();
  expect(lifeMs).toBeGreaterThan(60_000);
  expect(lifeMs).toBeLessThanOrEqual(120_000);
  expect(service.receiver.challengesAt(path)).toHaveLength(1);
  await say('Two.');
  // Delivered events do not come again, although the client sent its first cursor.
  await waitUntil(() => service.contents(path)).toEqual(['One.', 'Two.']);
  const post = service.receiver.at(path)[1];
  expect(post && [isSignedBy(secret, post), isSignedBy(next, post)]).toEqual([true, true]);
});

test('lifetimes are granted within limits', async () => {
  const { reader } = await service.pair();
  const token = await service.credentialToken(reader);
  const { params } = service.target();
  const lifeOf = async (ttlMs: number | null) => {
    const { refreshBefore } = await service.subscribe(token, { ...params, ttlMs });
    return Math.round((Date.parse(refreshBefore) - Date.now()) / 60_000);
  };
  expect(await lifeOf(1)).toBe(1);
  expect(await lifeOf(null)).toBe(7 * 24 * 60);
  expect(await lifeOf(365 * 24 * 3_600_000)).toBe(7 * 24 * 60);
});

test('a subscription that was ended gets nothing, and one that has expired neither', async () => {
  const { token, say } = await service.pair();
  const [ended, expired, kept] = [service.target(), service.target(), service.target()];
  await service.subscribe(token, ended.params);
  const { id } = await service.subscribe(token, expired.params);
  await service.subscribe(token, kept.params);
  const { url } = ended.params.delivery;
  const key = { name: 'message.created', delivery: { url } };
  expect((await service.call(token, 'events/unsubscribe', key)).result).toMatchObject({
    resultType: 'complete',
  });
  expect((await service.call(token, 'events/unsubscribe', key)).error).toMatchObject({
    code: -32_011,
    data: { kind: 'subscription' },
  });
  await service.query('update event_subscriptions set expires_at = 1 where id = $1', [id]);
  await say('Late.');
  await waitUntil(() => service.contents(kept.path)).toEqual(['Late.']);
  await waitUntil(() => service.row(id)).toBeUndefined();
  expect([...service.contents(ended.path), ...service.contents(expired.path)]).toEqual([]);
});

test('a new subscription replays from its cursor, and one from before the kept events says so', async () => {
  const { token, say, reader } = await service.pair();
  const { result } = await service.call(token, 'events/poll', { name: 'message.created', cursor: null });
  await say('Earlier.');
  const replayed = service.target({ cursor: result?.['cursor'] });
  expect(await service.subscribe(token, replayed.params)).toMatchObject({ truncated: false });
  await waitUntil(() => service.contents(replayed.path)).toEqual(['Earlier.']);
  await service.query('delete from feed where agent_id = $1', [reader.id]);
  await say('Later.');
  const late = service.target({ cursor: result?.['cursor'] });
  expect(await service.subscribe(token, late.params)).toMatchObject({ truncated: true });
  await waitUntil(() => service.contents(late.path)).toEqual(['Later.']);
});

test('events that do not match move the position and are not sent', async () => {
  const { token, say, reader } = await service.pair();
  const { path, params } = service.target({ arguments: { only_mentions: true } });
  const { id, cursor } = await service.subscribe(token, params);
  await say('For all.');
  await say(`For @${reader.handle}.`);
  await waitUntil(() => service.contents(path)).toEqual([`For @${reader.handle}.`]);
  await waitUntil(async () => (await service.row(id)).last_delivery_at).not.toBeNull();
  const again = await service.subscribe(token, params);
  expect(again.cursor).not.toBe(cursor);
});

test('messages that a receiver has accepted count as delivered', async () => {
  const { token, say, writer } = await service.pair();
  const seen = { name: 'message.delivered', cursor: null as string | null };
  const writerToken = await service.token(writer);
  const before = await service.call(writerToken, 'events/poll', seen);
  await service.subscribe(token, service.target().params);
  await say('Hello.');
  const after = { ...seen, cursor: String(before.result?.['cursor']) };
  await waitUntil(
    async () => (await service.call(writerToken, 'events/poll', after)).result?.['events'],
  ).toHaveLength(1);
});
