import { expect, onTestFinished, test } from 'vitest';
import { declaresEvents } from '../../../clients/mcp/events.ts';
import { requestRest } from '../../../clients/rest.ts';
import { issueTokenFor } from '../../../support/service.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { isSignedBy, newSecret, useEventWebhooks } from './webhook-setup.ts';

const service = useEventWebhooks({ RATE_LIMITS: 'webhook_test=3/60' });

test.each([
  'http://10.0.0.1/hook',
  'https://192.168.1.1/hook',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/hook',
  'https://[::ffff:10.0.0.1]/hook',
  'https://user:password@example.com/hook',
  'https://example.com/hook#fragment',
  'ftp://example.com/hook',
  'file:///etc/passwd',
  'no url',
  '',
])('the URL %s is refused, and nothing is sent', async (url) => {
  const { token } = await service.pair();
  const { params } = service.target();
  const delivery = { ...params.delivery, url };
  const { error } = await service.call(token, 'events/subscribe', { ...params, delivery });
  expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('delivery.url') });
});

test('a name that leads to an internal address is like a server that refuses connections', async () => {
  const { token } = await service.pair();
  const { params } = service.target();
  const subscribe = async (url: string) => {
    const answer = await service.call(token, 'events/subscribe', {
      ...params,
      delivery: { ...params.delivery, url },
    });
    return answer.error;
  };
  // The test allows 127.0.0.0/8 only, and these names resolve to other addresses or to none.
  const internal = await subscribe('https://ip6-localhost.invalid/hook');
  const closed = await subscribe(`${service.receiver.url.replace(/\d+$/, '1')}/hook`);
  expect(internal).toEqual(closed);
  expect(closed).toMatchObject({ code: -32_015, data: { reason: 'connection_refused' } });
});

test.each([
  { name: 'none', secret: '' },
  { name: 'without its prefix', secret: newSecret().slice(6) },
  { name: 'too short', secret: `whsec_${Buffer.alloc(23).toString('base64')}` },
  { name: 'too long', secret: `whsec_${Buffer.alloc(65).toString('base64')}` },
  { name: 'that is no Base64', secret: `whsec_${'*'.repeat(44)}` },
])('a secret $name is refused', async ({ secret }) => {
  const { token } = await service.pair();
  const { params } = service.target();
  const { error } = await service.call(token, 'events/subscribe', {
    ...params,
    delivery: { ...params.delivery, secret },
  });
  expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('delivery.secret') });
});

test.each([
  { name: 'without an answer', status: 204, body: '', reason: 'challenge_failed' },
  { name: 'with another answer', status: 200, body: '{"challenge":"guess"}', reason: 'challenge_failed' },
  { name: 'with a list', status: 200, body: '["challenge"]', reason: 'challenge_failed' },
  { name: 'that refuses', status: 404, body: '', reason: 'http_4xx' },
  { name: 'that fails', status: 500, body: 'internal detail', reason: 'http_5xx' },
  { name: 'that redirects', status: 307, body: '', reason: 'http_4xx' },
  { name: 'with a long answer', status: 200, body: 'x'.repeat(100_000), reason: 'challenge_failed' },
])('a receiver $name gets no event', async ({ status, body, reason }) => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { state } = service.receiver;
  const before = { ...state };
  onTestFinished(() => void Object.assign(state, before));
  state.answersChallenges = false;
  const headers = { Location: `${service.receiver.url}/elsewhere` };
  state.answer = (response) => void response.writeHead(status, headers).end(body);
  const { error } = await service.call(token, 'events/subscribe', params, declaresEvents);
  expect(error).toMatchObject({ code: -32_027, data: { reason } });
  expect(JSON.stringify(error)).not.toContain('internal detail');
  await say('Hello.');
  expect(service.receiver.challengesAt(path)).toHaveLength(1);
  expect(service.receiver.at(path)).toEqual([]);
  expect(service.receiver.challengesAt('/elsewhere')).toEqual([]);
});

test('challenges are limited, so that no receiver is flooded', async () => {
  const { token } = await service.pair();
  const codes = new Set<unknown>();
  for (let n = 0; n < 4; n += 1) {
    const { error } = await service.call(token, 'events/subscribe', service.target().params);
    codes.add(error?.code);
  }
  expect(codes).toEqual(new Set([undefined, -32_013]));
});

test('another delivery mode is unsupported', async () => {
  const { token } = await service.pair();
  const { params } = service.target();
  const delivery = { ...params.delivery, mode: 'carrier' };
  const { error } = await service.call(token, 'events/subscribe', { ...params, delivery });
  expect(error).toMatchObject({ code: -32_014, data: { feature: 'deliveryMode', value: 'carrier' } });
});

test('two agents with the same target have two subscriptions, and neither can end or read the other', async () => {
  const [ada, bob] = [await service.pair(), await service.pair()];
  const { path, secret, params } = service.target();
  const other = newSecret();
  const hers = await service.subscribe(ada.token, params);
  const his = await service.subscribe(bob.token, {
    ...params,
    delivery: { ...params.delivery, secret: other },
  });
  expect(his.id).not.toBe(hers.id);
  // Each of them was verified by itself.
  expect(service.receiver.challengesAt(path)).toHaveLength(2);
  const eve = await service.pair();
  const key = { name: 'message.created', delivery: { url: params.delivery.url } };
  expect((await service.call(eve.token, 'events/unsubscribe', key)).error).toMatchObject({ code: -32_011 });
  await service.call(bob.token, 'events/unsubscribe', key);
  await ada.say('For Ada.');
  await bob.say('For Bob.');
  await waitUntil(() => service.contents(path)).toEqual(['For Ada.']);
  const [post] = service.receiver.at(path);
  expect(post?.headers['x-mcp-subscription-id']).toBe(hers.id);
  expect(post && [isSignedBy(secret, post), isSignedBy(other, post)]).toEqual([true, false]);
});

test('a cursor of another agent starts no subscription', async () => {
  const [ada, bob] = [await service.pair(), await service.pair()];
  const { result } = await service.call(bob.token, 'events/poll', { name: 'message.created', cursor: null });
  const { params } = service.target({ cursor: result?.['cursor'] });
  expect((await service.call(ada.token, 'events/subscribe', params)).error).toMatchObject({
    code: -32_602,
    data: { code: 'INVALID_CURSOR' },
  });
});

test('a token without the scope of the event type cannot subscribe', async () => {
  const { reader } = await service.pair();
  const token = await issueTokenFor(service.core, reader.handle, {
    audience: 'mcp',
    scopes: ['contacts:read'],
  });
  expect((await service.call(token, 'events/subscribe', service.target().params)).error).toMatchObject({
    code: -32_012,
    data: { scope: 'threads:read' },
  });
});

test.each([
  { dialect: 'the sketch', capabilities: {}, code: -32_012 },
  { dialect: 'SEP-3415', capabilities: declaresEvents, code: -32_024 },
])('an ended access ends the subscription with terminated, in $dialect', async ({ capabilities, code }) => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params, capabilities);
  // As of a client whose connection a person has ended.
  await service.query(`update event_subscriptions set grant_id = 'grt_ended' where id = $1`, [id]);
  await say('Secret.');
  await waitUntil(() => service.row(id)).toBeUndefined();
  expect(service.receiver.at(path).map(({ json }) => json)).toEqual([
    {
      type: 'terminated',
      error: { code, message: 'Forbidden', data: { reason: 'The access was revoked.' } },
    },
  ]);
});

test('a retired agent gets nothing more', async () => {
  const { token, say, reader } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  await service.query('update agents set retired_at = 1 where id = $1', [reader.id]);
  await say('Too late.').catch(() => undefined);
  await waitUntil(() => service.row(id)).toBeUndefined();
  expect(service.contents(path)).toEqual(['terminated']);
});

test('an agent that has left a thread gets nothing more of it', async () => {
  const { token, say, reader, writer, thread_id } = await service.pair();
  const { path, params } = service.target();
  await service.subscribe(token, params);
  await say('Before.');
  await waitUntil(() => service.contents(path)).toEqual(['Before.']);
  const member = `${service.url}/v1/threads/${thread_id}/members/${reader.id}`;
  expect((await requestRest('DELETE', member, { token: reader.token })).status).toBe(204);
  await say('After.');
  // A later message to the agent, in another thread, shows that nothing comes before it.
  const body = { with_handle: reader.handle, initial_message: 'Elsewhere.' };
  await requestRest('POST', `${service.url}/v1/threads`, { token: writer.token, body });
  await waitUntil(() => service.contents(path)).toEqual(['Before.', 'Elsewhere.']);
});
