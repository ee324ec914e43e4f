import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import { allows } from '../domain/scopes.ts';
import type { IdempotencyClaim, UnitOfWork } from '../unit-of-work.ts';
import type { Operation } from './define.ts';
import { idempotencyKeyPattern } from './fields.ts';
import { createTurnstile } from './turnstile.ts';

export interface Call {
  operation: Operation;
  actor: Actor;
  /** As the transport got it: not yet parsed. */
  input: unknown;
  idempotency_key?: string | undefined;
}

export interface Answer {
  /** The answer as JSON text, byte for byte the same for a repeated call. */
  body: string;
  replayed: boolean;
}

/** The one door to every operation: scope, input, idempotency, unit of work, output. */
export type Execute = (call: Call) => Promise<Answer>;

export function createExecute(unitOfWork: UnitOfWork): Execute {
  const turnstile = createTurnstile();

  return async function execute(call) {
    const { operation, actor } = call;
    requireScope(operation, actor);
    const input = parseInput(operation, call.input);
    if (operation.kind === 'read') {
      const output = await unitOfWork.read(actor, (work) => operation.run(work, input));
      return { body: JSON.stringify(operation.output.parse(output)), replayed: false };
    }
    const write = (claim: IdempotencyClaim | null) =>
      unitOfWork.write(actor, claim, async (work) =>
        JSON.stringify(operation.output.parse(await operation.run(work, input))),
      );
    if (call.idempotency_key === undefined) return { body: await write(null), replayed: false };
    const claim = claimOf(call, call.idempotency_key, input);
    return turnstile.pass(claim.key_hash.toString('base64'), () => once(unitOfWork, claim, write));
  };
}

/** Gives the stored answer if there is one; else does it. A key that another process commits meanwhile wins. */
async function once(
  unitOfWork: UnitOfWork,
  claim: IdempotencyClaim,
  write: (claim: IdempotencyClaim) => Promise<string>,
): Promise<Answer> {
  const before = await unitOfWork.answerOf(claim);
  if (before) return replay(claim, before);
  try {
    return { body: await write(claim), replayed: false };
  } catch (error) {
    const meanwhile = await unitOfWork.answerOf(claim);
    if (meanwhile) return replay(claim, meanwhile);
    throw error;
  }
}

function replay(claim: IdempotencyClaim, stored: { request_hash: Buffer; answer: string }): Answer {
  if (!stored.request_hash.equals(claim.request_hash)) {
    throw new DomainError(
      'IDEMPOTENCY_MISMATCH',
      'This Idempotency-Key was used for another request; take a new key.',
    );
  }
  return { body: stored.answer, replayed: true };
}

/** @throws {DomainError} INSUFFICIENT_SCOPE, with the scope that is missing. */
export function requireScope(operation: Operation, actor: Actor): void {
  const { scope } = operation;
  if (scope === 'any' || allows(actor.scopes, scope)) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `This needs a token with the scope ${scope}.`, { scope });
}

function parseInput(operation: Operation, given: unknown): unknown {
  const parsed = operation.input.safeParse(given);
  if (!parsed.success) throw validationError(parsed.error);
  refuseUnstorable(parsed.data, []);
  return parsed.data;
}

function validationError(error: z.ZodError): DomainError {
  const details = error.issues
    .slice(0, 20)
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys
            .slice(0, 20)
            .map((key) => ({
              field: [...issue.path, key].join('.').slice(0, 200),
              message: 'is not a field of this request',
            }))
        : [{ field: issue.path.join('.').slice(0, 200), message: issue.message }],
    );
  const own = error.issues.find(
    (issue) => issue.code === 'custom' && issue.params?.['code'] === 'MESSAGE_TOO_LARGE',
  );
  const fields = details.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ');
  return new DomainError(own ? 'MESSAGE_TOO_LARGE' : 'VALIDATION_ERROR', fields, { details });
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair; both are refused rather than altered. */
function refuseUnstorable(value: unknown, path: readonly (string | number)[]): void {
  if (typeof value === 'string') {
    if (value.isWellFormed() && !value.includes('\0')) return;
    const field = path.join('.');
    const message = 'must be well-formed Unicode without NUL characters';
    throw new DomainError('VALIDATION_ERROR', `${field}: ${message}`, { details: [{ field, message }] });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    refuseUnstorable(key, [...path, key]);
    refuseUnstorable(child, [...path, key]);
  }
}

function claimOf({ operation, actor }: Call, key: string, input: unknown): IdempotencyClaim {
  if (!idempotencyKeyPattern.test(key)) {
    throw new DomainError('VALIDATION_ERROR', 'Idempotency-Key: must be 1 to 255 visible ASCII characters.', {
      details: [{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }],
    });
  }
  const about = input as Record<string, unknown>;
  const path = operation.rest?.path.replace(/\{(\w+)\}/g, (_, name: string) => String(about[name]));
  const scope = JSON.stringify([actor.agent_id, operation.rest?.method, path ?? operation.name, key]);
  return { key_hash: sha256(scope), request_hash: sha256(stableJson(input)) };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** JSON whose text does not depend on the order in which fields were written. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}
