import { idempotencyKeyPattern } from '../../../operations/fields.ts';
import type { Json } from './schemas.ts';

const text = { type: 'string' };

/** Every header that answers carry, once. */
export const headers = {
  'X-Request-Id': {
    description: 'Names this exchange in logs. A harmless X-Request-Id of the caller is taken over.',
    schema: { type: 'string', pattern: '^[\\w.-]{8,128}$' },
    example: '0c8e4b52-6a57-4f0e-9a55-5f1d3c9f7b21',
  },
  RateLimit: {
    description: 'What is left of each budget that the call took from. Absent where limits are switched off.',
    schema: text,
    example: '"default";r=299;t=60',
  },
  'RateLimit-Policy': {
    description: 'The budgets themselves: calls, and seconds. Absent where limits are switched off.',
    schema: text,
    example: '"default";q=300;w=60',
  },
  'Retry-After': {
    description: 'Seconds after which the same call may succeed.',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'The challenge (RFC 6750, RFC 9728): what was wrong with the token, and where to get one.',
    schema: { type: 'string', pattern: '^Bearer ' },
    example:
      'Bearer error="invalid_token", resource_metadata="http://localhost:3000/v1/.well-known/oauth-protected-resource"',
  },
  Location: {
    description: 'The address of what was made.',
    schema: { type: 'string', format: 'uri' },
  },
  Link: {
    description: 'With rel="next": the same request with the cursor of the next page (RFC 8288).',
    schema: { type: 'string', pattern: 'rel="next"$' },
  },
  ETag: {
    description: 'Changes with the content.',
    schema: { type: 'string', pattern: '^"[^"]+"$' },
    example: '"q0Cv3J5s1pYt8nLr2mWx4z"',
  },
  'Idempotency-Replayed': {
    description: 'This answer was given before, to the first request with this Idempotency-Key.',
    schema: { const: 'true' },
  },
} as const satisfies Record<string, Json>;

export type HeaderName = keyof typeof headers;

/** The headers of an answer: those that it always has, those that it may have, and those of every answer. */
export function headersOf(always: readonly HeaderName[], maybe: readonly HeaderName[] = []): Json {
  const required = ['X-Request-Id' as const, ...always].map((name) => [
    name,
    { ...headers[name], required: true },
  ]);
  const others = [...maybe, 'RateLimit' as const, 'RateLimit-Policy' as const].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]);
  return Object.fromEntries([...required, ...others]) as Json;
}

/** The header parameter of requests for what the caller may have already. */
export const ifNoneMatch: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of what you have; when it is still the same, the answer is 304.',
  schema: text,
  example: headers.ETag.example,
};

/** The header parameter of requests that take effect once only (contract, section 8). */
export function idempotencyKey(required: boolean): Json {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required,
    description:
      'A unique text of your own, a UUID for example. A repeated request with the same key and body gets the first answer again.',
    schema: { type: 'string', pattern: idempotencyKeyPattern.source },
    example: 'a4c0b7f0-7d0c-4a53-8a5f-2f6f1f0f9a11',
  };
}
