import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createSealedBox, deriveKeys, type Secrets } from '../../shared/encryption.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork, SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';

/** A private key of the authorization server (RFC 7517), for ES256. */
const signingKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  alg: z.literal('ES256'),
  use: z.literal('sig'),
  kid: z.string(),
});

export type SigningKey = z.infer<typeof signingKey>;

/** What the keys are derived for that encrypt the signing keys. */
export const signingKeyPurpose = 'ams signing keys';

/** Bus topic that signals a change of the signing keys; the body is unused. */
export const signingKeysTopic = 'signing-keys';

/**
 * Returns the signing keys, newest first. The newest signs; all are published. Creates the first key if there is none; concurrent
 * processes agree on the same one.
 * @param secrets the keys are stored encrypted with the first one.
 * @throws if the stored keys were encrypted with another secret
 */
export async function loadSigningKeys(
  unitOfWork: Pick<UnitOfWork, 'read' | 'write'>,
  secrets: Secrets,
): Promise<SigningKey[]> {
  const box = createKeyBox(secrets);
  const stored = await unitOfWork.read(system, (work) => work.db.signingKeys.list());
  const rows =
    stored.length > 0 ? stored : await unitOfWork.write(system, (work) => createFirstKey(work, box));
  return rows.map((row) => box.open(row.id, row.encrypted_key));
}

/** @throws if the stored keys were encrypted with another secret */
export async function checkSecretKey({ signingKeys }: ReadWork['db'], secrets: Secrets): Promise<void> {
  const box = createKeyBox(secrets);
  for (const row of await signingKeys.list()) box.open(row.id, row.encrypted_key);
}

/** Returns the ids of the signing keys, newest first, each with its creation time (ms). */
export async function listSigningKeys({ db: { signingKeys: keys } }: ReadWork) {
  const rows = await keys.list();
  return rows.map(({ id, created_at }, index) => ({ id, created_at, signs: index === 0 }));
}

/**
 * Creates a new signing key, which signs from now on. Older keys stay published until they are removed.
 * @throws if the stored keys were encrypted with another secret, because no process could read both
 */
export async function rotateSigningKey(
  { db: { signingKeys: keys }, changes: { audit }, now }: SystemWork,
  secrets: Secrets,
) {
  const box = createKeyBox(secrets);
  await keys.lock();
  const stored = await keys.list();
  for (const row of stored) box.open(row.id, row.encrypted_key);
  // Keeps the new key the newest even if the clock was set back or a rotation happens in the same millisecond.
  const created_at = Math.max(now, (stored[0]?.created_at ?? 0) + 1);
  const key = await insertKey(keys, box, created_at);
  audit({ act: 'signing_key.rotated', about: key.id });
  return key;
}

/**
 * Removes a signing key. Its signatures become invalid.
 * @throws {DomainError} NOT_FOUND, INVALID_TRANSITION for the key that currently signs
 */
export async function removeSigningKey(
  { db: { signingKeys: keys }, changes: { audit } }: SystemWork,
  id: string,
) {
  await keys.lock();
  const [signing, ...others] = await keys.list();
  if (id === signing?.id) {
    throw new DomainError(
      'INVALID_TRANSITION',
      'This key is the current signing key; rotate first, then remove it.',
    );
  }
  if (!others.some((other) => other.id === id)) {
    throw new DomainError('NOT_FOUND', `No signing key has the id ${id.slice(0, 80)}.`);
  }
  await keys.remove(id);
  audit({ act: 'signing_key.removed', about: id });
  return { id, removed: true };
}

/** Creates the first key unless another process was faster. */
async function createFirstKey({ db: { signingKeys: keys }, now }: SystemWork, box: KeyBox) {
  await keys.lock();
  const meanwhile = await keys.list();
  if (meanwhile.length > 0) return meanwhile;
  await insertKey(keys, box, now);
  return keys.list();
}

async function insertKey(keys: SystemWork['db']['signingKeys'], box: KeyBox, created_at: number) {
  const key = generateKey();
  await keys.insert({ id: key.kid, encrypted_key: box.seal(key), created_at });
  return { id: key.kid, created_at };
}

function generateKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return signingKey.parse({
    ...privateKey.export({ format: 'jwk' }),
    alg: 'ES256',
    use: 'sig',
    kid: randomUUID(),
  });
}

type KeyBox = ReturnType<typeof createKeyBox>;

/** Encrypts keys as JSON, each bound to its id. */
function createKeyBox(secrets: Secrets) {
  const box = createSealedBox(deriveKeys(secrets, signingKeyPurpose));
  return {
    seal: (plain: SigningKey): Buffer => box.seal(JSON.stringify(plain), plain.kid),
    open(id: string, sealed: Buffer): SigningKey {
      try {
        return signingKey.parse(JSON.parse(box.open(sealed, id)));
      } catch (cause) {
        throw new Error(
          'SECRET_KEY: differs from the one with which the signing keys in the database were encrypted; set that one, or add it to SECRET_KEY_FALLBACKS',
          {
            cause,
          },
        );
      }
    },
  };
}
