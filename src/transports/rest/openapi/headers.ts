import { idempotencyKeyPattern } from '../../../../packages/core/src/inputs/fields.ts';
import type { Json } from './schemas.ts';

const text = { type: 'string' };

/** All response headers. */
export const headers = {
  'X-Request-Id': {
    required: true,
    description:
      'Identifies the request in logs. A well-formed X-Request-Id of the request is used; otherwise the service generates one.',
    schema: { type: 'string', pattern: '^[\\w.-]{8,128}$' },
    example: '0c8e4b52-6a57-4f0e-9a55-5f1d3c9f7b21',
  },
  RateLimit: {
    description:
      'What remains of each rate limit that the request counted against. Absent when rate limits are disabled.',
    schema: text,
    example: '"default";r=299;t=60',
  },
  'RateLimit-Policy': {
    description:
      'The rate limits: requests (q) per window in seconds (w). Absent when rate limits are disabled.',
    schema: text,
    example: '"default";q=300;w=60',
  },
  'Retry-After': {
    description: 'Seconds to wait before you retry.',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'The problem with the token, and the address of the resource metadata (RFC 6750, RFC 9728).',
    schema: { type: 'string', pattern: '^Bearer ' },
    example:
      'Bearer error="invalid_token", resource_metadata="http://localhost:3000/v1/.well-known/oauth-protected-resource"',
  },
  Location: {
    description: 'URL of the created resource, or of the content for a redirect.',
    schema: { type: 'string', format: 'uri' },
  },
  Link: {
    description: 'With rel="next": the URL of the next page (RFC 8288).',
    schema: { type: 'string', pattern: 'rel="next"$' },
  },
  ETag: {
    description: 'Version of the content.',
    schema: { type: 'string', pattern: '^"[^"]+"$' },
    example: '"q0Cv3J5s1pYt8nLr2mWx4z"',
  },
  'Idempotency-Replayed': {
    description: 'Present when this is the response of an earlier request with the same Idempotency-Key.',
    schema: { const: 'true' },
  },
} as const satisfies Record<string, Json>;

export type HeaderName = keyof typeof headers;

/** The headers of a response: those that it always has, optional ones, and those of every response. */
export function headersOf(always: readonly HeaderName[], optional: readonly HeaderName[] = []): Json {
  const required = always.map((name) => [name, { ...headers[name], required: true }]);
  const common = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'] as const;
  const others = [...optional, ...common].map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return Object.fromEntries([...required, ...others]) as Json;
}

/** The If-None-Match header of conditional requests. */
export const ifNoneMatch: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an earlier response. If the content has not changed, the response is 304.',
  schema: text,
  example: headers.ETag.example,
};

/** The Idempotency-Key header of requests. */
export function idempotencyKey(required: boolean): Json {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required,
    description:
      'A unique value that you choose, such as a UUID. A repeated request with the same key and body gets the first response again.',
    schema: { type: 'string', pattern: idempotencyKeyPattern.source },
    example: 'a4c0b7f0-7d0c-4a53-8a5f-2f6f1f0f9a11',
  };
}
