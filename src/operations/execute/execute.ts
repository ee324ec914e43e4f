import { createHash } from 'node:crypto';
import type { Actor } from '../../domain/auth/actor.ts';
import type { StoredFile } from '../../domain/attachments/attachments.ts';
import { DomainError, wrongField } from '../../domain/errors.ts';
import { allows } from '../../domain/auth/scopes.ts';
import type { IdempotencyClaim, UnitOfWork, Work } from '../../work/unit-of-work.ts';
import { type Approver, createApprovalStage } from './approval.ts';
import { padNotFound } from './pad-not-found.ts';
import type { Operation } from '../define.ts';
import { idempotencyKeyPattern } from '../fields.ts';
import type { Intake } from './file-intake.ts';
import type { RateLimits } from '../rate-limits.ts';
import { type Answer, createAnswer } from './answer.ts';
import { createBatching } from './batch.ts';
import { createRateLimiting, type RateLimitedCall } from './rate-limiting.ts';
import { createConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';
import { createWithFile } from './with-file.ts';

export interface Call extends RateLimitedCall {
  idempotency_key?: string | undefined;
  /** Given by faces whose callers need a person's word for some operations. */
  approver?: Approver | undefined;
}

/** The one door to every operation: scope, limit, input, approval, idempotency, unit of work, output. */
export type Execute = (call: Call) => Promise<Answer>;

/** How long a call waits for others with the same idempotency key, or that write to the same thread. */
const waitTimeoutMs = 10_000;

export function createExecute(unitOfWork: UnitOfWork, limits: RateLimits, intake: Intake): Execute {
  const toll = createRateLimiting(limits);
  const keys = createConcurrencyLimiter({
    maxConcurrent: 1,
    timeoutMs: waitTimeoutMs,
    createError: () =>
      new DomainError('IDEMPOTENCY_IN_PROGRESS', 'The first request with this key still runs.', {
        retry_after: 1,
      }),
  });
  // A few for each, so that the next one stands ready; not all, so that one busy thread leaves connections to the others.
  const contended = createConcurrencyLimiter({
    maxConcurrent: 4,
    timeoutMs: waitTimeoutMs,
    createError: () =>
      new DomainError('UNAVAILABLE', 'Too many write here at once; try again.', { retry_after: 1 }),
  });

  const together = createBatching(unitOfWork);
  const approved = createApprovalStage(unitOfWork);
  const withFile = createWithFile(unitOfWork, intake);

  async function perform(call: Call, input: unknown, consume: () => Promise<void>): Promise<Answer> {
    const { operation, actor, approver } = call;
    const { approval: rule } = operation;
    if (!rule || !approver) return act(call, input);
    const { idempotency_key: key } = call;
    const claim = key === undefined ? undefined : claimOf(call, key, input, null);
    const findStoredAnswer = async () => {
      const stored = claim && (await unitOfWork.findAnswer(claim));
      return claim && stored && replay(unitOfWork, operation, claim, stored);
    };
    const write = (gate: (work: Work) => Promise<void>) => act(call, input, gate);
    return approved({ rule, actor, input, approver, consume, findStoredAnswer, write });
  }

  /** Runs it; `gate` goes first in the transaction of a write. */
  async function act(call: Call, input: unknown, gate?: (work: Work) => Promise<void>): Promise<Answer> {
    const { operation, actor } = call;
    if (!operation.file) return actWith(call, input, null, gate);
    requireKey(call.idempotency_key);
    return withFile({ operation, actor, input }, (file) => actWith(call, input, file, gate));
  }

  async function actWith(
    call: Call,
    input: unknown,
    file: StoredFile | null,
    gate?: (work: Work) => Promise<void>,
  ): Promise<Answer> {
    const { operation, actor } = call;
    const run = async (work: Work): Promise<Answer> => {
      await gate?.(work);
      return createAnswer(operation, work, await operation.run(work, input, file));
    };
    if (operation.kind === 'read') return unitOfWork.read(actor, run, canReadReplica(operation, input));
    const write = (claim: IdempotencyClaim | null) => {
      const batchKey = operation.batchKey?.(input);
      const attempt = () => unitOfWork.write(actor, claim, run);
      const runAlone = () => (batchKey === undefined ? attempt() : contended.run(batchKey, attempt));
      const suits = !gate && !file && operation.batch?.isBatchable(input);
      return suits ? together({ operation, actor, claim, input, batchKey, runAlone }) : runAlone();
    };
    if (call.idempotency_key === undefined) return write(null);
    const claim = claimOf(call, call.idempotency_key, input, file);
    return keys.run(claim.key_hash.toString('base64'), async (waited) => {
      // Who came behind another call of the same key most likely finds its answer.
      const before = waited ? await unitOfWork.findAnswer(claim) : undefined;
      if (before) return replay(unitOfWork, operation, claim, before);
      return runOnce(unitOfWork, operation, claim, () => write(claim));
    });
  }

  return async function execute(call) {
    requireScope(call.operation, call.actor);
    const consumes_later = call.operation.approval !== undefined && call.approver !== undefined;
    return toll({ ...call, consumes_later }, (input, pay) => padNotFound(() => perform(call, input, pay)));
  };
}

/**
 * Does it; when that fails and the key has an answer, gives that one. Most keys come once, so they are not looked for first:
 * the key's row is part of the commit, and a second one of it is refused there together with everything else.
 */
async function runOnce(
  unitOfWork: UnitOfWork,
  operation: Operation,
  claim: IdempotencyClaim,
  write: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await write();
  } catch (error) {
    // What the database could not do just now, it will not tell just now either.
    if (error instanceof DomainError && error.code === 'UNAVAILABLE') throw error;
    const before = await unitOfWork.findAnswer(claim).catch(() => {
      throw error;
    });
    if (before) return replay(unitOfWork, operation, claim, before);
    throw error;
  }
}

function replay(
  { sealedBox }: UnitOfWork,
  operation: Operation,
  claim: IdempotencyClaim,
  stored: { request_hash: Buffer; answer: string },
): Answer {
  if (!stored.request_hash.equals(claim.request_hash)) {
    throw new DomainError(
      'IDEMPOTENCY_MISMATCH',
      'This Idempotency-Key was used for another request; take a new key.',
    );
  }
  const body = operation.confidential
    ? sealedBox.open(Buffer.from(stored.answer, 'base64'), operation.name)
    : stored.answer;
  return { body, output: JSON.parse(body), replayed: true };
}

function canReadReplica({ replica }: Operation, input: unknown): boolean {
  const cursor: unknown = Object(input).cursor;
  return replica === 'any-page' || (replica === 'first-page' && cursor === undefined);
}

/** @throws {DomainError} INSUFFICIENT_SCOPE, with the scope that is missing. */
export function requireScope(operation: Operation, actor: Actor): void {
  const { scope } = operation;
  if (scope === 'any' || allows(actor.scopes, scope)) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `This needs a token with the scope ${scope}.`, { scope });
}

function requireKey(key: string | undefined): void {
  if (key === undefined || idempotencyKeyPattern.test(key)) return;
  throw wrongField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
}

/** The same bytes under the same name are the same file, wherever they were stored. */
function requestOf(input: unknown, file: StoredFile | null): unknown {
  return file
    ? { input, sha256: file.sha256, filename: file.filename, content_type: file.content_type }
    : input;
}

function claimOf(
  { operation, actor }: Call,
  key: string,
  input: unknown,
  file: StoredFile | null,
): IdempotencyClaim {
  requireKey(key);
  // The same scope through every door: the method and the short path of the REST face, with its fields filled in.
  const fields = new Map(Object.entries(input ?? {}));
  const path = operation.rest?.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(fields.get(name)));
  const scope = JSON.stringify([actor.agent_id, operation.rest?.method, path ?? operation.name, key]);
  return { key_hash: sha256(scope), request_hash: sha256(stableJson(requestOf(input, file))) };
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
