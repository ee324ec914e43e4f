import { randomBytes } from 'node:crypto';

const keyPattern = /^[\w-]{22}$/;

/** A random key per form, so that a form submitted twice takes effect once. */
export function createIdempotencyKey(): string {
  return randomBytes(16).toString('base64url');
}

/** The idempotency key of a form, or a new one if it is missing or invalid. */
export function readIdempotencyKey(form: URLSearchParams): string {
  const key = form.get('idempotency_key') ?? '';
  return keyPattern.test(key) ? key : createIdempotencyKey();
}
