import { AgentMessagingError } from './errors.ts';
import type { FeedEvent } from './events/types.ts';

/** The request is not of the service, or is too old. Answer with 400. */
export class WebhookVerificationError extends AgentMessagingError {
  override name = 'WebhookVerificationError';
}

/** Headers as Node, Fetch or a framework gives them. Names are in lower case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the time of the request may be from now; default: 300. */
  toleranceSeconds?: number;
}

/**
 * Verifies the signature of a webhook request (Standard Webhooks) and returns its event. Delivery is at least once and not ordered.
 * @param body the request body as it came, not parsed
 * @throws {WebhookVerificationError}
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<FeedEvent> {
  const read = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    return typeof value === 'string' ? value : '';
  };
  const timestamp = read('webhook-timestamp');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const age = Math.abs(Date.now() / 1_000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || age > toleranceSeconds) refuse('is missing a time, or is too old');
  const key = await importKey(secret).catch(() =>
    refuse('cannot be verified: the secret must be whsec_ and base64'),
  );
  const signed = new TextEncoder().encode(`${read('webhook-id')}.${timestamp}.${text}`);
  for (const signature of read('webhook-signature').split(' ')) {
    const bytes = decodeBase64(signature.replace(/^v1,/, ''));
    if (bytes && signature.startsWith('v1,') && (await crypto.subtle.verify('HMAC', key, bytes, signed)))
      return JSON.parse(text) as FeedEvent;
  }
  return refuse('has no valid signature');
}

/** A signed request of a webhook, for tests of a receiver. */
export interface TestDelivery {
  headers: Record<string, string>;
  body: string;
}

/** Signs an event as the service does. */
export async function createTestDelivery(
  event: FeedEvent,
  secret: string,
  now = Date.now(),
): Promise<TestDelivery> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(now / 1_000));
  const signed = new TextEncoder().encode(`${event.id}.${timestamp}.${body}`);
  const signature = await crypto.subtle.sign('HMAC', await importKey(secret), signed);
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`,
    },
    body,
  };
}

function refuse(reason: string): never {
  throw new WebhookVerificationError({ code: 'INVALID_WEBHOOK', message: `The request ${reason}.` });
}

/** The type of a key has a name in browsers only. */
async function importKey(secret: string) {
  const bytes = secret.startsWith('whsec_') ? decodeBase64(secret.slice('whsec_'.length)) : undefined;
  if (!bytes) throw new TypeError('The secret of a webhook starts with whsec_.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined; // no base64: no signature
  }
}
