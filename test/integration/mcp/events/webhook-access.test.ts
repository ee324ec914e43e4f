import { system } from '../../../../packages/core/src/domain/auth/audit.ts';
import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { endTokens } from '../../../../src/services/auth/revocations.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { useEventWebhooks } from './webhook-setup.ts';

const service = useEventWebhooks();

const types = (path: string) => service.receiver.at(path).map(({ json }) => json.type ?? json.name);

const hashOf = (token: string) => createHash('sha256').update(token).digest();

const revoke = (token: string) =>
  service.core.unitOfWork.write(system, (work) =>
    endTokens(work, { token_id: hashOf(token).toString('base64url') }),
  );

test('a token that is revoked during the challenge gets no subscription', async () => {
  const { token, reader } = await service.pair();
  const { path, params } = service.target();
  const { state } = service.receiver;
  const before = { ...state };
  onTestFinished(() => void Object.assign(state, before));
  state.answersChallenges = false;
  state.answer = (response, { json }) =>
    void revoke(token).then(() => response.end(JSON.stringify({ challenge: json.challenge })));
  const { error } = await service.call(token, 'events/subscribe', params);
  expect(error).toMatchObject({ code: -32_012, data: { code: 'UNAUTHORIZED' } });
  expect(service.receiver.challengesAt(path)).toHaveLength(1);
  const rows = await service.query('select id from event_subscriptions where agent_id = $1', [reader.id]);
  expect(rows).toEqual([]);
});

test('a subscription of a token without grant and credential lives no longer than the token', async () => {
  const { token } = await service.pair();
  const subscribed = await service.subscribe(token, { ...service.target().params, ttlMs: null });
  const [row] = await service.query('select expires_at from access_tokens where token_hash = $1', [
    hashOf(token),
  ]);
  expect(Date.parse(subscribed.refreshBefore)).toBe(Object(row).expires_at);
});

test('a subscription of a token without grant and credential ends when the token is revoked', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  await revoke(token);
  await say('Secret.');
  await waitUntil(() => service.row(id)).toBeUndefined();
  expect(types(path)).toEqual(['terminated']);
});

test('an event after the revocation is not sent, also while the events before it are', async () => {
  const { token, say } = await service.pair();
  const { path, params } = service.target();
  const { id } = await service.subscribe(token, params);
  const { state } = service.receiver;
  const before = { ...state };
  onTestFinished(() => void Object.assign(state, before));
  state.answer = (response, { json }) => {
    const isFirst = json.name === 'message.created' || json.type === 'message.created';
    const next = isFirst ? revoke(token).then(() => say('Secret.')) : Promise.resolve();
    void next.then(() => response.end('{}'));
  };
  await say('One.');
  await waitUntil(() => service.row(id)).toBeUndefined();
  expect(types(path)).toEqual(['message.created', 'terminated']);
});

test('a subscription of a credential outlives its token, and ends with the credential', async () => {
  const { reader, say } = await service.pair();
  const { path, params } = service.target();
  const token = await service.credentialToken(reader);
  const { id } = await service.subscribe(token, params);
  await revoke(token);
  await say('One.');
  await waitUntil(() => types(path)).toEqual(['message.created']);
  await service.query('update credentials set revoked_at = 1 where agent_id = $1', [reader.id]);
  await say('Secret.');
  await waitUntil(() => service.row(id)).toBeUndefined();
  expect(types(path)).toEqual(['message.created', 'terminated']);
});
