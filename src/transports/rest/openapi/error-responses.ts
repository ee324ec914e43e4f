import { type ErrorCode, errorStatuses } from '../../../../packages/core/src/domain/errors.ts';
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

/** Errors that always have Retry-After. */
const retryableErrors: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMITED',
  'UNAVAILABLE',
  'AGENT_PAUSED',
  'IDEMPOTENCY_IN_PROGRESS',
  'ATTACHMENT_NOT_READY',
]);
const challengedErrors: ReadonlySet<ErrorCode> = new Set(['UNAUTHORIZED', 'INSUFFICIENT_SCOPE']);

/**
 * All error codes of an endpoint: its own, and those that follow from how it is called.
 * @param isLong whether the path must name the acting agent.
 */
export function listErrorCodes(
  method: string,
  isLong: boolean,
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
    ...(isLong ? (['FORBIDDEN'] as const) : []),
  ]);
  return (Object.keys(errorStatuses) as ErrorCode[]).filter((code) => codes.has(code));
}

/** The error responses of a document. Responses that several endpoints have are in its components. */
export interface ErrorResponses {
  /** One response for each status of these codes. */
  of(codes: readonly ErrorCode[]): Json;
  /** The responses that several endpoints have, by name. */
  shared: Json;
  /** An example of each code in use. */
  examples: Json;
}

/** @param lists the error codes of each endpoint, in the order of the table of errors. */
export function createErrorResponses(lists: readonly (readonly ErrorCode[])[]): ErrorResponses {
  const groups = lists.flatMap(groupByStatus);
  const names = groups.map(nameOf);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  const used = new Set(lists.flat());
  return {
    of: (codes) =>
      Object.fromEntries(
        groupByStatus(codes).map((group) => [
          errorStatuses[group[0]],
          repeated.has(nameOf(group))
            ? { $ref: `#/components/responses/${nameOf(group)}` }
            : errorResponse(group),
        ]),
      ),
    shared: Object.fromEntries(
      groups
        .filter((group) => repeated.has(nameOf(group)))
        .map((group) => [nameOf(group), errorResponse(group)]),
    ),
    examples: Object.fromEntries([...used].map((code) => [code, errorExample(code)])),
  };
}

type ErrorGroup = [ErrorCode, ...ErrorCode[]];

/** The codes by status. */
function groupByStatus(codes: readonly ErrorCode[]): ErrorGroup[] {
  const groups = new Map<number, ErrorGroup>();
  for (const code of codes) {
    const group = groups.get(errorStatuses[code]);
    if (group) group.push(code);
    else groups.set(errorStatuses[code], [code]);
  }
  return [...groups.values()];
}

const nameOf = (codes: ErrorGroup): string => codes.join('-');

/** The error response for these codes, which have the same status. */
function errorResponse(codes: readonly ErrorCode[]): Json {
  const headerOf = (name: HeaderName, codesWithHeader: ReadonlySet<ErrorCode>) => ({
    name,
    some: codes.some((code) => codesWithHeader.has(code)),
    all: codes.every((code) => codesWithHeader.has(code)),
  });
  const extra = [headerOf('Retry-After', retryableErrors), headerOf('WWW-Authenticate', challengedErrors)];
  const always = extra.filter(({ all }) => all).map(({ name }) => name);
  const optional = extra.filter(({ some, all }) => some && !all).map(({ name }) => name);
  const narrowed = { properties: { error: { properties: { code: { enum: codes } } } } };
  return {
    description: codes.map((code) => `\`${code}\`: ${errorDescriptions[code]}`).join('\n\n'),
    headers: headersOf(always, optional),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/ApiError' }, narrowed] },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** An example of the error body with this code. */
function errorExample(code: ErrorCode): Json {
  const details =
    code === 'VALIDATION_ERROR' ? { details: [{ field: 'limit', message: 'must be at most 100' }] } : {};
  const request_id = '0c8e4b52-6a57-4f0e-9a55-5f1d3c9f7b21';
  return { value: { error: { code, message: errorDescriptions[code], ...details, request_id } } };
}

/** The error body. */
export const errorSchema = {
  type: 'object',
  description: 'The body of every error response.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'The error.',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { description: 'Machine-readable error code.', enum: Object.keys(errorStatuses) },
        message: {
          description: 'Human-readable explanation. It may change; do not parse it.',
          type: 'string',
        },
        request_id: {
          description: 'The value of X-Request-Id. Include it when you report a problem.',
          type: 'string',
        },
        approval: {
          description: 'The approval that the call waits for, or that was denied.',
          type: 'object',
          required: ['id', 'expires_at', 'url'],
          properties: {
            id: { description: 'Approval identifier, apr_…', type: 'string' },
            expires_at: { description: 'When it expires, in milliseconds since the epoch.', type: 'integer' },
            url: { description: 'Where a person decides.', type: 'string' },
          },
          additionalProperties: false,
        },
        details: {
          description: 'The invalid fields of the request.',
          type: 'array',
          items: {
            type: 'object',
            required: ['field', 'message'],
            properties: {
              field: {
                description: 'Path of the field, with dots. Empty for the whole input.',
                type: 'string',
              },
              message: { description: 'The reason why the field is invalid.', type: 'string' },
              reason: {
                description: 'Machine-readable reason, where the code is not specific enough.',
                enum: ['loop'],
              },
            },
          },
        },
      },
    },
  },
};
