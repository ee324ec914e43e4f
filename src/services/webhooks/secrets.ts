import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import type { SealedBox } from '../../shared/encryption.ts';
import type { Webhook } from './access.ts';

const secretBytes = 32;

/** A new secret in the form of Standard Webhooks, and what is kept of it for the webhook with this id. */
export function createWebhookSecret(vault: SealedBox, id: string): { secret: string; sealed: Buffer } {
  const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
  return { secret, sealed: vault.seal(secret, id) };
}

/** Whether the secret of a webhook can be read: not when SECRET_KEY is another one than it was sealed with. */
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
 * The headers that prove to a receiver who posts (Standard Webhooks): one signature for each secret that is good at `now` (ms), the
 * newest first.
 * @param event_id the same at every attempt, so that the receiver knows what it has already.
 * @throws when SECRET_KEY is not the one that the webhook was made with.
 */
export function signHeaders(
  vault: SealedBox,
  keys: Keys,
  { event_id, body, now }: { event_id: string; body: string; now: number },
): Record<string, string> {
  const { id, secret, previous_secret, previous_secret_until } = keys;
  const both = previous_secret && (previous_secret_until ?? 0) > now;
  const sealed = both ? [secret, previous_secret] : [secret];
  const signatures = sealed.map((each) =>
    new Signer(vault.open(each, id)).sign(event_id, new Date(now), body),
  );
  return {
    'webhook-id': event_id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}
