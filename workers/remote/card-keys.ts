import { type AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk';
import { flattenedVerify, importJWK, type JWK } from 'jose';
import { z } from 'zod';
import { toCanonicalJson } from '../../packages/core/src/domain/canonical-json.ts';
import { CardProblem, type CardSignature } from '../../src/presenters/a2a/remote-card.ts';

/** Signatures of symmetric keys prove nothing. */
const algorithms = [
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
  'Ed25519',
];
const maxKeys = 5;
/** Addresses of keys that one card can name. */
const maxKeySets = 2;

const member = z.string().max(2_048).optional();

/** The public parameters of a key (RFC 7517); all others are dropped. */
const publicKey = z.object({
  kty: z.enum(['EC', 'RSA', 'OKP']),
  kid: member,
  crv: member,
  x: member,
  y: member,
  n: member,
  e: member,
});
const keySet = z.object({ keys: z.array(z.unknown()).max(100) });
const protectedHeader = z.object({
  alg: z.enum(algorithms),
  kid: z.string().max(1_000),
  jku: z.string().max(2_048).optional(),
});

interface SignedCard {
  /** As it was received. */
  json: unknown;
  signatures: readonly CardSignature[];
  card_url: string;
  /** The keys that a person confirmed. */
  pinned: readonly object[];
}

interface Signature extends CardSignature {
  header: z.infer<typeof protectedHeader>;
}

/**
 * Returns the keys that sign a card: the pinned ones if one of them does, otherwise those that the origin of the card publishes. Empty if the
 * card is not signed by any of these.
 * @throws {CardProblem} no signature by a published key is valid
 */
export async function findSigningKeys(
  { json, signatures, card_url, pinned }: SignedCard,
  fetchKeys: (url: string) => Promise<unknown>,
): Promise<JWK[]> {
  const readable = signatures.flatMap((signature) => {
    const header = readHeader(signature);
    return header ? [{ ...signature, header }] : [];
  });
  const payloads = toPayloads(json);
  for (const signature of readable) {
    for (const key of pinned) if (await isSignedBy(signature, payloads, key)) return pinned as JWK[];
  }
  const { origin } = new URL(card_url);
  const published = readable.filter(({ header: { jku = '' } }) => URL.parse(jku)?.origin === origin);
  if (published.length === 0) return [];
  const addresses = [...new Set(published.map(({ header: { jku = '' } }) => jku))].slice(0, maxKeySets);
  const keys = new Map<string, JWK[]>();
  for (const address of addresses) keys.set(address, readKeys(await fetchKeys(address)));
  const signing: JWK[] = [];
  for (const signature of published) {
    const { jku = '', kid } = signature.header;
    const key = keys.get(jku)?.find((one) => one.kid === kid);
    if (key && signing.length < maxKeys && (await isSignedBy(signature, payloads, key))) signing.push(key);
  }
  if (signing.length === 0) throw new CardProblem('the signature of the agent card is not valid');
  return signing;
}

function readHeader(signature: CardSignature) {
  try {
    return protectedHeader.parse(JSON.parse(Buffer.from(signature.protected, 'base64url').toString()));
  } catch {
    return undefined;
  }
}

function readKeys(json: unknown): JWK[] {
  const { keys } = keySet.safeParse(json).data ?? { keys: [] };
  return keys.flatMap((key) => publicKey.safeParse(key).data ?? []) as JWK[];
}

/** The signed text: the card as it was received, or as the A2A SDKs write it (A2A 1.0, section 8.4.1), which leave out unknown and empty fields. */
function toPayloads(json: unknown): string[] {
  const { signatures: _signatures, ...card } = json as Record<string, unknown>;
  const received = toCanonicalJson(card);
  // Of a card of 0.3 the SDK would leave out the address.
  if (!('supportedInterfaces' in card)) return [received];
  try {
    // The SDK parses the JSON itself, although its type names a parsed card.
    return [received, canonicalizeAgentCard(card as unknown as AgentCard)];
  } catch {
    return [received];
  }
}

async function isSignedBy(
  { header: { alg }, ...signature }: Signature,
  payloads: readonly string[],
  key: JWK,
): Promise<boolean> {
  for (const payload of payloads) {
    try {
      const jws = { ...signature, payload: Buffer.from(payload).toString('base64url') };
      await flattenedVerify(jws, await importJWK(key, alg), { algorithms });
      return true;
    } catch {
      // The next form of the text.
    }
  }
  return false;
}
