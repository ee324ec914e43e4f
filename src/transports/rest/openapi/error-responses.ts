import { type ErrorCode, errorStatuses } from '../../../domain/errors.ts';
import type { RouteDescription } from '../route.ts';
import { headersOf, type HeaderName } from './headers.ts';
import { errorDescriptions } from './error-descriptions.ts';
import type { Json } from './schemas.ts';

const commonErrors: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'PAYLOAD_TOO_LARGE',
  'UNAUTHORIZED',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];
const bodyErrors: readonly ErrorCode[] = ['INVALID_JSON', 'UNSUPPORTED_MEDIA_TYPE'];
const idempotencyErrors: readonly ErrorCode[] = [
  'IDEMPOTENCY_KEY_REQUIRED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_MISMATCH',
];

/** Refusals that bring Retry-After whenever they are given. */
const retryableErrors: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMITED',
  'UNAVAILABLE',
  'AGENT_PAUSED',
  'IDEMPOTENCY_IN_PROGRESS',
  'ATTACHMENT_NOT_READY',
]);
const challengedErrors: ReadonlySet<ErrorCode> = new Set(['UNAUTHORIZED', 'INSUFFICIENT_SCOPE']);

/**
 * Every code that one method of one path may refuse with: its own, and what follows from how it is called.
 * @param long whether the path must name the acting agent.
 */
export function listErrorCodes(
  method: string,
  long: boolean,
  description: RouteDescription,
  fields: readonly string[],
): ErrorCode[] {
  const codes = new Set([
    ...description.errors,
    ...commonErrors,
    ...(method === 'GET' ? [] : bodyErrors),
    ...(description.idempotency ? idempotencyErrors : []),
    ...(description.scopes.length > 0 ? (['INSUFFICIENT_SCOPE'] as const) : []),
    ...(fields.includes('cursor') ? (['INVALID_CURSOR'] as const) : []),
    ...(long ? (['FORBIDDEN'] as const) : []),
  ]);
  return (Object.keys(errorStatuses) as ErrorCode[]).filter((code) => codes.has(code));
}

/** One response for each status that the codes have. A code that is alone with its status shares its response with others. */
export function errorResponses(codes: readonly ErrorCode[]): Json {
  const statuses = new Set(codes.map((code) => errorStatuses[code]));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const own = codes.filter((code) => errorStatuses[code] === status);
      const [only] = own;
      return [
        status,
        own.length === 1 ? { $ref: `#/components/responses/${only}` } : errorResponse(own),
      ] as const;
    }),
  );
}

/** The answer that refuses with one of these codes, which have one status. */
export function errorResponse(codes: readonly ErrorCode[]): Json {
  const headerOf = (name: HeaderName, bring: ReadonlySet<ErrorCode>) => ({
    name,
    some: codes.some((code) => bring.has(code)),
    all: codes.every((code) => bring.has(code)),
  });
  const extra = [headerOf('Retry-After', retryableErrors), headerOf('WWW-Authenticate', challengedErrors)];
  const always = extra.filter(({ all }) => all).map(({ name }) => name);
  const maybe = extra.filter(({ some, all }) => some && !all).map(({ name }) => name);
  const narrowed = { properties: { error: { properties: { code: { enum: codes } } } } };
  return {
    description: codes.map((code) => `\`${code}\`: ${errorDescriptions[code]}`).join('\n\n'),
    headers: headersOf(always, maybe),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Error' }, narrowed] },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** One example of the error body for each code (contract, section 7). */
export function errorExample(code: ErrorCode): Json {
  const details =
    code === 'VALIDATION_ERROR'
      ? { details: [{ field: 'limit', message: 'Too big: expected number to be <=100' }] }
      : {};
  const request_id = '0c8e4b52-6a57-4f0e-9a55-5f1d3c9f7b21';
  return { value: { error: { code, message: errorDescriptions[code], ...details, request_id } } };
}

/** The error body. */
export const errorSchema = {
  type: 'object',
  description: 'Every refusal has this form.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'What went wrong.',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { description: 'For programs.', enum: Object.keys(errorStatuses) },
        message: { description: 'For people.', type: 'string' },
        request_id: { description: 'The same as in X-Request-Id.', type: 'string' },
        details: {
          description: 'Each bad field of the request.',
          type: 'array',
          items: {
            type: 'object',
            required: ['field', 'message'],
            properties: {
              field: { description: 'Dotted path of the field; empty for the whole.', type: 'string' },
              message: { description: 'What is wrong with it.', type: 'string' },
              reason: { description: 'For programs, where the code alone does not tell.', enum: ['loop'] },
            },
          },
        },
      },
    },
  },
};
