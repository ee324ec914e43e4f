import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { DomainError, type ErrorCode } from '../../../packages/core/src/domain/errors.ts';
import { A2aRefusal, toA2aRefusal, writeA2aError } from '../../../src/transports/a2a/errors.ts';
import { expectValidA2a } from '../../support/a2a/expect-valid.ts';

/** The error response in one binding, without a server. */
function answer(error: DomainError, binding: 'JSONRPC' | 'HTTP+JSON') {
  const headers: Record<string, string> = {};
  const ctx = {
    state: { a2a: { binding, id: 7, toText: String } },
    set: (more: object) => Object.assign(headers, more),
  };
  writeA2aError(ctx as unknown as Context, error, 'req-1');
  const { status, body } = ctx as unknown as { status: number; body: string };
  const parsed = JSON.parse(body);
  return { status, headers, error: parsed.error, id: parsed.id };
}

type Row = [code: ErrorCode, rpc: number, rpcStatus: number, http: number, status: string];

/** The table of the errors of the service: those with the same status in both bindings are not 200 over JSON-RPC. */
const rows: Row[] = [
  ['INVALID_JSON', -32_700, 200, 400, 'INVALID_ARGUMENT'],
  ['VALIDATION_ERROR', -32_602, 200, 400, 'INVALID_ARGUMENT'],
  ['INVALID_CURSOR', -32_602, 200, 400, 'INVALID_ARGUMENT'],
  ['MESSAGE_TOO_LARGE', -32_602, 200, 400, 'INVALID_ARGUMENT'],
  ['ATTACHMENT_TOO_LARGE', -32_602, 200, 400, 'INVALID_ARGUMENT'],
  ['ATTACHMENT_INFECTED', -32_602, 200, 400, 'INVALID_ARGUMENT'],
  ['IDEMPOTENCY_MISMATCH', -32_602, 200, 400, 'INVALID_ARGUMENT'],
  ['UNAUTHORIZED', -32_000, 401, 401, 'UNAUTHENTICATED'],
  ['INSUFFICIENT_SCOPE', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['NOT_CONTACTS', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['NOT_TRUSTED', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['NOT_ALLOWED', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['BLOCKED', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['THREAD_CLOSED', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['CANNOT_INITIATE_THREADS', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['APPROVAL_REQUIRED', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['APPROVAL_DENIED', -32_000, 403, 403, 'PERMISSION_DENIED'],
  ['METHOD_NOT_ALLOWED', -32_600, 405, 405, 'UNIMPLEMENTED'],
  ['AGENT_NOT_FOUND', -32_000, 404, 404, 'NOT_FOUND'],
  ['PAYLOAD_TOO_LARGE', -32_000, 413, 413, 'INVALID_ARGUMENT'],
  ['RATE_LIMITED', -32_000, 429, 429, 'RESOURCE_EXHAUSTED'],
  ['AGENT_PAUSED', -32_000, 503, 503, 'UNAVAILABLE'],
  ['UNAVAILABLE', -32_000, 503, 503, 'UNAVAILABLE'],
  ['INTERNAL', -32_603, 500, 500, 'INTERNAL'],
  // It never leaves an operation of A2A.
  ['DUPLICATE_HANDLE', -32_603, 500, 500, 'INTERNAL'],
];

test.each(rows)('%s has its code in both bindings', (code, rpc, rpcStatus, http, status) => {
  const error = new DomainError(code, 'It is refused.', {
    retry_after: 3,
    details: [{ field: 'message.role', message: 'must be ROLE_USER' }],
  });
  const overRpc = answer(error, 'JSONRPC');
  expect(overRpc).toMatchObject({
    status: rpcStatus,
    id: 7,
    error: { code: rpc, message: 'It is refused.' },
  });
  expectValidA2a('JsonRpcError', overRpc.error);
  const overHttp = answer(error, 'HTTP+JSON');
  expect(overHttp).toMatchObject({ status: http, error: { code: http, status } });
  expectValidA2a('HttpError', { error: overHttp.error });
  expect(overHttp.error.details).toEqual(overRpc.error.data);
  expect(overHttp.error.details).toMatchObject([
    { reason: code, metadata: { request_id: 'req-1' } },
    { fieldViolations: [{ field: 'message.role', description: 'must be ROLE_USER' }] },
    { retryDelay: '3s' },
  ]);
  expect([overRpc.headers, overHttp.headers]).toEqual([{ 'Retry-After': '3' }, { 'Retry-After': '3' }]);
});

type NamedRow = [
  reason: ConstructorParameters<typeof A2aRefusal>[0],
  rpc: number,
  http: number,
  status: string,
];

const namedRows: NamedRow[] = [
  ['INVALID_REQUEST', -32_600, 400, 'INVALID_ARGUMENT'],
  ['METHOD_NOT_FOUND', -32_601, 404, 'NOT_FOUND'],
  ['TASK_NOT_FOUND', -32_001, 404, 'NOT_FOUND'],
  ['TASK_NOT_CANCELABLE', -32_002, 400, 'FAILED_PRECONDITION'],
  ['UNSUPPORTED_OPERATION', -32_004, 400, 'FAILED_PRECONDITION'],
  ['CONTENT_TYPE_NOT_SUPPORTED', -32_005, 400, 'INVALID_ARGUMENT'],
  ['VERSION_NOT_SUPPORTED', -32_009, 400, 'FAILED_PRECONDITION'],
];

test.each(namedRows)('%s is an error of the protocol', (reason, rpc, http, status) => {
  const error = new A2aRefusal(reason, 'It is refused.');
  expect(answer(error, 'JSONRPC')).toMatchObject({ status: 200, error: { code: rpc, data: [{ reason }] } });
  expect(answer(error, 'HTTP+JSON')).toMatchObject({
    status: http,
    error: { code: http, status, details: [{ reason, domain: 'a2a-protocol.org' }] },
  });
});

test('refusals of operations get the names of A2A', () => {
  const reasonOf = (code: ErrorCode, ended: 'TASK_NOT_CANCELABLE' | 'UNSUPPORTED_OPERATION') =>
    Object(toA2aRefusal(new DomainError(code, 'no'), ended)).reason;
  expect(reasonOf('TASK_NOT_FOUND', 'UNSUPPORTED_OPERATION')).toBe('TASK_NOT_FOUND');
  expect(reasonOf('INVALID_TRANSITION', 'TASK_NOT_CANCELABLE')).toBe('TASK_NOT_CANCELABLE');
  expect(reasonOf('INVALID_TRANSITION', 'UNSUPPORTED_OPERATION')).toBe('UNSUPPORTED_OPERATION');
  expect(reasonOf('UNSUPPORTED_MEDIA_TYPE', 'UNSUPPORTED_OPERATION')).toBe('CONTENT_TYPE_NOT_SUPPORTED');
  expect(reasonOf('BLOCKED', 'UNSUPPORTED_OPERATION')).toBeUndefined();
});
