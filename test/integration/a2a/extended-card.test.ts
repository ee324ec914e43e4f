import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { describe, expect, test } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { a2aAddress, bindings, createA2aClient, reasonOf } from '../../clients/a2a.ts';
import { startService, type TestAgent, type TestService, useSharedService } from '../../support/service.ts';

const shared = useSharedService();

/** The extended card of an agent as another one sees it. */
function readCard(
  { token }: TestAgent,
  { handle }: TestAgent,
  binding: (typeof bindings)[number] = 'HTTP+JSON',
  service: TestService = shared,
) {
  return createA2aClient(binding, a2aAddress(service.url, handle), token).call('GetExtendedAgentCard', {});
}

async function viewOf(reader: TestAgent, agent: TestAgent, service?: TestService) {
  const { result, error } = await readCard(reader, agent, 'HTTP+JSON', service);
  expect(error).toBeUndefined();
  return result.capabilities.extensions[0].params;
}

describe.each(bindings)('over %s', (binding) => {
  test('the extended card is the card, with what it means for its reader, and signed', async () => {
    const [ann, bob] = [await shared.agent(), await shared.agent()];
    const { result } = await readCard(ann, bob, binding);
    const answer = await fetch(`${a2aAddress(shared.url, bob.handle)}/.well-known/agent-card.json`);
    const { signatures: _public, ...card } = (await answer.json()) as Record<string, object>;
    const { signatures: _extended, ...extended } = structuredClone(result);
    const { params } = extended.capabilities.extensions[0];
    expect(params).toEqual({
      wait_seconds: 25,
      task_days: 30,
      relationship: 'none',
      accepts: true,
      is_online: false,
    });
    extended.capabilities.extensions[0].params = { wait_seconds: 25, task_days: 30 };
    expect(extended).toEqual(card);
    const keys = await (await fetch(`${shared.url}/.well-known/jwks.json`)).json();
    await verifyAgentCardSignature(async (kid) => keys.keys.find((key: { kid: string }) => key.kid === kid))(
      result as AgentCard,
    );
  });

  test('an agent that the reader may not see has none', async () => {
    const [ann, bob] = [await shared.agent(), await shared.agent({ visibility: 'private' })];
    const hidden = await readCard(ann, bob, binding);
    const absent = await readCard(ann, { ...bob, handle: 'absent.agent' }, binding);
    expect([hidden.status, reasonOf(hidden)]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect([absent.status, reasonOf(absent)]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect((await readCard(bob, bob, binding)).status).toBe(200);
  });
});

test('accepts is true, or the error that a question would get', async () => {
  const agent = (inbound_policy: 'contacts_only' | 'trusted_only' | 'allowlist' | 'open') =>
    shared.agent({ inbound_policy, scopes });
  const [ann, shy, trusting, listing, open] = [
    await shared.agent({ scopes }),
    await agent('contacts_only'),
    await agent('trusted_only'),
    await agent('allowlist'),
    await agent('open'),
  ];
  const accepts = async (one: TestAgent) => (await viewOf(ann, one)).accepts;
  expect(await Promise.all([shy, trusting, listing, open].map(accepts))).toEqual([
    'NOT_CONTACTS',
    'NOT_TRUSTED',
    'NOT_ALLOWED',
    true,
  ]);
  expect(await viewOf(ann, ann)).toMatchObject({ relationship: 'self', accepts: 'VALIDATION_ERROR' });

  expect((await shared.post(listing, '/allowlist', { entry: ann.handle })).status).toBe(201);
  expect(await accepts(listing)).toBe(true);
  await shared.post(ann, '/blocks', { handle: open.handle });
  expect(await accepts(open)).toBe('BLOCKED');
  await shared.sql('update agents set paused = true where id = $1', [listing.id]);
  expect(await accepts(listing)).toBe('AGENT_PAUSED');
  await shared.sql('update agents set can_initiate_threads = false where id = $1', [ann.id]);
  expect(await accepts(shy)).toBe('CANNOT_INITIATE_THREADS');
});

test('the extended card has the rate limits, and needs the scope agents:read', async () => {
  const service = await startService({ env: { RATE_LIMITS: 'send_message=7/60' }, worker: false });
  try {
    const [ann, bob] = [await service.agent(), await service.agent()];
    expect((await viewOf(ann, bob, service)).rate_limits).toMatchObject({
      send_message: { calls: 7, seconds: 60 },
      default: { calls: 300, seconds: 60 },
    });
    const poor = { ...ann, token: await service.token(ann.handle, { scopes: ['realtime:read'] }) };
    const refused = await readCard(poor, bob, 'HTTP+JSON', service);
    expect([refused.status, reasonOf(refused)]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  } finally {
    await service.stop();
  }
});
