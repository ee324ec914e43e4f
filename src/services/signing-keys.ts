import {
  createCipheriv,
  createDecipheriv,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import { z } from 'zod';
import type { Administration, UnitOfWork } from '../unit-of-work.ts';

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

/**
 * The signing keys, newest first. The first process that asks makes one; several at once agree on the same one.
 * @param secret SECRET_KEY: the keys are stored encrypted with it.
 * @throws when the stored keys were encrypted with another secret.
 */
export async function signingKeys(
  unitOfWork: Pick<UnitOfWork, 'consult' | 'administer'>,
  secret: string,
): Promise<SigningKey[]> {
  const box = keyBox(secret);
  const stored = await unitOfWork.consult((repositories) => repositories.signingKeys.list());
  const rows = stored.length > 0 ? stored : await unitOfWork.administer((work) => firstKey(work, box));
  return rows.map((row) => box.open(row.id, row.encrypted_key));
}

/** Makes the first key, unless another process was faster. */
async function firstKey({ signingKeys: keys, now }: Administration, box: KeyBox) {
  await keys.lock();
  const meanwhile = await keys.list();
  if (meanwhile.length > 0) return meanwhile;
  const key = newKey();
  const row = { id: key.kid, encrypted_key: box.seal(key), created_at: now };
  await keys.insert(row);
  return [row];
}

function newKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return signingKey.parse({
    ...privateKey.export({ format: 'jwk' }),
    alg: 'ES256',
    use: 'sig',
    kid: randomUUID(),
  });
}

const nonceBytes = 12;
const tagBytes = 16;

type KeyBox = ReturnType<typeof keyBox>;

/** AES-256-GCM: nonce, tag, then the key as JSON; bound to the key's id. */
function keyBox(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'ams signing keys', 32));
  return {
    seal(plain: SigningKey): Buffer {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(plain.kid));
      const body = Buffer.concat([cipher.update(JSON.stringify(plain)), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    open(id: string, sealed: Buffer): SigningKey {
      const nonce = sealed.subarray(0, nonceBytes);
      const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
      const options = { authTagLength: tagBytes };
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, options)
        .setAAD(Buffer.from(id))
        .setAuthTag(tag);
      try {
        const body = Buffer.concat([
          decipher.update(sealed.subarray(nonceBytes + tagBytes)),
          decipher.final(),
        ]);
        return signingKey.parse(JSON.parse(body.toString()));
      } catch (cause) {
        throw new Error('SECRET_KEY: is not the one that the signing keys in the database were made with', {
          cause,
        });
      }
    },
  };
}
