import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { secretBytes as chosenSecretBytes } from '../../../packages/core/src/domain/feed/event-dialects.ts';
import type { SealedBox } from '../../shared/encryption.ts';
import type { Webhook } from './access.ts';

const secretBytes = 32;

/** Creates a secret in the format of Standard Webhooks, and seals it for the webhook with this id. */
export function createWebhookSecret(vault: SealedBox, id: string): { secret: string; sealed: Buffer } {
  const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
  return { secret, sealed: vault.seal(secret, id) };
}

/** Whether the secret of a webhook can be read; false if SECRET_KEY has changed since. */
export function canSign(vault: SealedBox, { id, secret }: Pick<Webhook, 'id' | 'secret'>): boolean {
  try {
    vault.open(secret, id);
    return true;
  } catch {
    return false;
  }
}

type Keys = Pick<Webhook, 'id' | 'secret' | 'previous_secret' | 'previous_secret_until'>;

/**
 * Returns the signature headers of a delivery (Standard Webhooks): one signature for each secret that is valid at `now` (ms), newest
 * first.
 * @param event_id the same for every attempt, so that the receiver can drop duplicates.
 * @throws if SECRET_KEY is not the one with which the secrets were sealed
 */
export function signHeaders(
  vault: SealedBox,
  keys: Keys,
  { event_id, body, now }: { event_id: string; body: string; now: number },
): Record<string, string> {
  const { id, secret, previous_secret, previous_secret_until } = keys;
  const hasPrevious = previous_secret && (previous_secret_until ?? 0) > now;
  const sealedSecrets = hasPrevious ? [secret, previous_secret] : [secret];
  const signatures = sealedSecrets.map((sealed) =>
    new Signer(vault.open(sealed, id)).sign(event_id, new Date(now), body),
  );
  return {
    'webhook-id': event_id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** Whether a client chose a secret of Standard Webhooks: `whsec_` and the Base64 of enough bytes. */
export function isWebhookSecret(text: string): boolean {
  const encoded = text.replace(/^whsec_/, '');
  const bytes = Buffer.from(encoded, 'base64');
  const isCanonical = text.startsWith('whsec_') && bytes.toString('base64') === encoded;
  return isCanonical && bytes.length >= chosenSecretBytes.min && bytes.length <= chosenSecretBytes.max;
}
