import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { rotateSigningKey, signingKeysTopic } from '../../../src/services/auth/signing-keys.ts';
import { toCanonicalJson } from '../../../packages/core/src/domain/canonical-json.ts';
import { useService } from '../../support/service.ts';

const service = useService({ worker: false });
const publicUrl = 'http://localhost:3000';

async function readCard(handle: string) {
  const path = `/a2a/${handle.replace('.', '/')}/.well-known/agent-card.json`;
  const response = await fetch(service.url + path);
  return { card: await response.json(), etag: response.headers.get('etag') };
}

/** Reads a published key. The service is at another address than PUBLIC_URL. */
async function readKey(kid: string, jku = ''): Promise<JsonWebKey> {
  const response = await fetch(jku.replace(publicUrl, service.url));
  const { keys } = (await response.json()) as { keys: (JsonWebKey & { kid: string })[] };
  const key = keys.find((one) => one.kid === kid);
  if (!key) throw new Error(`${kid} is not published`);
  return key;
}

/** With the card as it was received: of its own form of a card, the SDK forgets the security schemes (a2a-js, issue 663). */
const verifyWithSdk = (card: AgentCard) => verifyAgentCardSignature((kid, jku) => readKey(kid, jku))(card);

test('the SDK verifies the signature of a card, and rejects a changed card', async () => {
  const { handle } = await service.agent();
  const { card } = await readCard(handle);
  await verifyWithSdk(card);
  vi.spyOn(console, 'debug').mockReturnValue();
  await expect(verifyWithSdk({ ...card, description: 'Changed.' })).rejects.toThrow(/No valid signatures/);
});

test('the signature is a JWS of the canonical card without signatures', async () => {
  const { handle } = await service.agent();
  await service.patch(await agentOf(handle), '/agents/me', {
    display_name: 'Ä\u2028 "quoted" \\ 😀',
    skills: [{ name: 'b', description: '' }],
  });
  const { card } = await readCard(handle);
  const { signatures, ...content } = card;
  const [{ protected: header, signature }] = signatures;
  const { kid, ...more } = JSON.parse(Buffer.from(header, 'base64url').toString());
  const jku = `${publicUrl}/.well-known/jwks.json`;
  expect(more).toEqual({ alg: 'ES256', typ: 'JOSE', jku });
  const input = `${header}.${Buffer.from(toCanonicalJson(content)).toString('base64url')}`;
  const key = createPublicKey({ key: await readKey(kid, jku), format: 'jwk' });
  const bytes = Buffer.from(signature, 'base64url');
  expect(verify('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true);
  await verifyWithSdk(card);
});

test('a card is signed once for each version and key', async () => {
  const { handle } = await service.agent();
  const first = await readCard(handle);
  expect(await readCard(handle)).toEqual(first);

  await service.patch(await agentOf(handle), '/agents/me', { description: 'Changed.' });
  const changed = await readCard(handle);
  expect(changed.etag).not.toBe(first.etag);
  expect(changed.card.signatures).not.toEqual(first.card.signatures);

  await service.write((work) => rotateSigningKey(work, [service.env['SECRET_KEY'] ?? '']));
  await service.core.bus.publish([{ topic: signingKeysTopic, body: '' }]);
  await expect.poll(async () => (await readCard(handle)).etag).not.toBe(changed.etag);
  await verifyWithSdk((await readCard(handle)).card);
});

async function agentOf(handle: string): Promise<{ token: string }> {
  return { token: await service.token(handle) };
}
