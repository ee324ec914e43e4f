import { describe, expect, test } from 'vitest';
import { DomainError, type ErrorCode, errorStatuses } from '../../../packages/core/src/domain/errors.ts';

/** All error codes of docs/api.md with their status. */
const contract: [status: number, codes: string][] = [
  [400, 'VALIDATION_ERROR, INVALID_HANDLE, INVALID_CURSOR, INVALID_JSON, IDEMPOTENCY_KEY_REQUIRED'],
  [401, 'UNAUTHORIZED'],
  [403, 'INSUFFICIENT_SCOPE, FORBIDDEN, NOT_CONTACTS, NOT_TRUSTED, NOT_ALLOWED, BLOCKED'],
  [403, 'CANNOT_INITIATE_THREADS, NOT_THREAD_MEMBER, THREAD_CLOSED, ATTACHMENT_INFECTED, APPROVAL_DENIED'],
  [202, 'APPROVAL_REQUIRED'],
  [404, 'NOT_FOUND, AGENT_NOT_FOUND, THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, ATTACHMENT_NOT_FOUND'],
  [404, 'TASK_NOT_FOUND, CONTACT_NOT_FOUND, REQUEST_NOT_FOUND, INBOX_NOT_FOUND, LEASE_NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
  [406, 'NOT_ACCEPTABLE'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
  [409, 'DUPLICATE_HANDLE, INVALID_TRANSITION, IDEMPOTENCY_IN_PROGRESS'],
  [409, 'ATTACHMENT_NOT_READY, ATTACHMENT_ALREADY_SENT, LEASE_LOST'],
  [413, 'MESSAGE_TOO_LARGE, ATTACHMENT_TOO_LARGE, PAYLOAD_TOO_LARGE'],
  [422, 'IDEMPOTENCY_MISMATCH'],
  [429, 'RATE_LIMITED'],
  [503, 'AGENT_PAUSED, UNAVAILABLE'],
  [500, 'INTERNAL'],
];
const rows = contract.flatMap(([status, codes]) => codes.split(', ').map((code) => ({ code, status })));

describe('error codes', () => {
  test('are exactly the documented ones', () => {
    expect(Object.keys(errorStatuses).toSorted()).toEqual(rows.map(({ code }) => code).toSorted());
  });

  test.each(rows)('$code has status $status', ({ code, status }) => {
    expect(new DomainError(code as ErrorCode, 'words').status).toBe(status);
  });

  test('have the fields of the answer and their cause', () => {
    const cause = new Error('underneath');
    const details = [{ field: 'content', message: 'is too long' }];
    const error = new DomainError('RATE_LIMITED', 'Slow down.', {
      details,
      retry_after: 3,
      scope: 's',
      cause,
    });
    expect(error).toMatchObject({ name: 'DomainError', details, retry_after: 3, scope: 's', cause });
    expect(error.message).toBe('Slow down.');
  });
});
