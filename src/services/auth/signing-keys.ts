import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { deriveKey, createSealedBox } from '../../shared/encryption.ts';
import { DomainError } from '../../domain/errors.ts';
import type { SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';

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

/** The bus topic on which processes hear that the signing keys have changed; the body says nothing. */
export const signingKeysTopic = 'signing-keys';

/**
 * The signing keys, newest first: that one signs, all are published. The first process that asks makes one; several at once agree
 * on the same one.
 * @param secret SECRET_KEY: the keys are stored encrypted with it.
 * @throws when the stored keys were encrypted with another secret.
 */
export async function loadSigningKeys(
  unitOfWork: Pick<UnitOfWork, 'readAsSystem' | 'writeAsSystem'>,
  secret: string,
): Promise<SigningKey[]> {
  const box = createKeyBox(secret);
  const stored = await unitOfWork.readAsSystem((repositories) => repositories.signingKeys.list());
  const rows =
    stored.length > 0 ? stored : await unitOfWork.writeAsSystem((work) => createFirstKey(work, box));
  return rows.map((row) => box.open(row.id, row.encrypted_key));
}

/** The ids of the signing keys, newest first, each since when (ms). */
export async function listSigningKeys({ signingKeys: keys }: Pick<SystemWork, 'signingKeys'>) {
  const rows = await keys.list();
  return rows.map(({ id, created_at }, index) => ({ id, created_at, signs: index === 0 }));
}

/**
 * Makes a new signing key, which signs from now on. The ones before stay published until they are removed.
 * @throws when the stored keys were encrypted with another secret: the new one would lock the processes out.
 */
export async function rotateSigningKey({ signingKeys: keys, now, audit }: SystemWork, secret: string) {
  const box = createKeyBox(secret);
  await keys.lock();
  const stored = await keys.list();
  for (const row of stored) box.open(row.id, row.encrypted_key);
  // The newest is the one that signs, also after two rotations within a millisecond or with a clock that was set back.
  const created_at = Math.max(now, (stored[0]?.created_at ?? 0) + 1);
  const made = await insertKey(keys, box, created_at);
  audit({ act: 'signing_key.rotated', about: made.id });
  return made;
}

/**
 * Removes a signing key. What it signed is worth nothing from now on.
 * @throws {DomainError} NOT_FOUND, INVALID_TRANSITION for the key that signs: make another one first.
 */
export async function removeSigningKey({ signingKeys: keys, audit }: SystemWork, id: string) {
  await keys.lock();
  const [signing, ...others] = await keys.list();
  if (id === signing?.id) {
    throw new DomainError('INVALID_TRANSITION', 'This key signs; rotate first, then remove it.');
  }
  if (!others.some((other) => other.id === id)) {
    throw new DomainError('NOT_FOUND', `No signing key has the id ${id.slice(0, 80)}.`);
  }
  await keys.remove(id);
  audit({ act: 'signing_key.removed', about: id });
  return { id, removed: true };
}

/** Makes the first key, unless another process was faster. */
async function createFirstKey({ signingKeys: keys, now }: SystemWork, box: KeyBox) {
  await keys.lock();
  const meanwhile = await keys.list();
  if (meanwhile.length > 0) return meanwhile;
  await insertKey(keys, box, now);
  return keys.list();
}

async function insertKey(keys: SystemWork['signingKeys'], box: KeyBox, created_at: number) {
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

/** Keys as JSON, each bound to its id. */
function createKeyBox(secret: string) {
  const box = createSealedBox(deriveKey(secret, 'ams signing keys'));
  return {
    seal: (plain: SigningKey): Buffer => box.seal(JSON.stringify(plain), plain.kid),
    open(id: string, sealed: Buffer): SigningKey {
      try {
        return signingKey.parse(JSON.parse(box.open(sealed, id)));
      } catch (cause) {
        throw new Error('SECRET_KEY: is not the one that the signing keys in the database were made with', {
          cause,
        });
      }
    },
  };
}
