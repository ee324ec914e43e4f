import { createSealedBox, deriveKeys, type SealedBox, type Secrets } from '../../shared/encryption.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { signingKeyPurpose } from './signing-keys.ts';

type Outcome = 'reencrypted' | 'current' | 'unreadable';

type Reencrypted = { column: string } & Record<Outcome, number>;

/** Rows that are read at a time. */
const pageSize = 500;

/**
 * Encrypts every stored secret with the first one of `secrets`, if another one of them has encrypted it. It can be repeated.
 * @returns for each column how many values were encrypted again, how many were already current, and how many none of the secrets opens
 */
export async function reencryptSecrets(
  { db, settings, changes: { audit } }: SystemWork,
  secrets: Secrets,
): Promise<Reencrypted[]> {
  const keyBox = createSealedBox(deriveKeys(secrets, signingKeyPurpose));
  const columns: Reencrypted[] = [];
  for (const { table, name, lock, replace } of db.sealedValues.columns) {
    const box = table === 'signing_keys' ? keyBox : settings.sealedBox;
    const counts = { column: `${table}.${name}`, reencrypted: 0, current: 0, unreadable: 0 };
    for (let after: string | undefined = ''; after !== undefined;) {
      const values = await lock(after, pageSize);
      const renewed = values.flatMap((value) => {
        const [outcome, sealed] = renew(box, value);
        counts[outcome] += 1;
        return sealed ? [{ key: value.key, sealed }] : [];
      });
      if (renewed.length > 0) await replace(renewed);
      after = values.length < pageSize ? undefined : values.at(-1)?.key;
    }
    columns.push(counts);
  }
  const total = (outcome: Outcome) => columns.reduce((sum, counts) => sum + counts[outcome], 0);
  audit({
    act: 'secrets.reencrypted',
    detail: { reencrypted: total('reencrypted'), unreadable: total('unreadable') },
  });
  return columns;
}

function renew(box: SealedBox, { sealed, about }: { sealed: Buffer; about: string }): [Outcome, Buffer?] {
  try {
    const renewed = box.renew(sealed, about);
    return renewed ? ['reencrypted', renewed] : ['current'];
  } catch {
    // Another key was lost earlier. The other values are still worth renewing.
    return ['unreadable'];
  }
}
