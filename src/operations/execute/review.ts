import { randomUUID } from 'node:crypto';
import { approvalActions } from '../../../packages/core/src/domain/approvals.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { ReviewRequired } from '../../services/approvals/outgoing.ts';
import { findReview, holdForReview, reviewPending } from '../../services/approvals/reviews.ts';
import type { IdempotencyClaim, UnitOfWork, Work } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';
import type { Approval } from '../../services/approvals/approvals.ts';
import { createAsk } from './approval.ts';
import type { Answer, CallContext, Stage } from './context.ts';
import { approvalDenied } from '../../services/approvals/decide.ts';
import { createClaim } from './idempotency.ts';
import { describeCall } from './reviewed-texts.ts';

/**
 * Holds calls whose agent has an outgoing policy until a person has reviewed them. The use case refuses before it writes, so nothing of the
 * call has left; its whole input is stored, and it runs in the transaction of the decision. A repeated call under the same key gets the same
 * review, and after it the answer. Where the transport can ask the person, it waits for the decision.
 * @throws {DomainError} APPROVAL_REQUIRED, APPROVAL_DENIED, RATE_LIMITED
 */
export function createReview(unitOfWork: UnitOfWork): Stage {
  const ask = createAsk(unitOfWork);

  return function review(operation, next) {
    const { review: rule } = operation;
    if (!rule) return next;
    return async (context) => {
      try {
        return await next(context);
      } catch (error) {
        if (!(error instanceof DomainError) || error.status >= 500) throw error;
        const claim = createReviewClaim(operation, context);
        if (error instanceof ReviewRequired)
          return hold(context, error, claim ?? createReviewClaim(operation, context, randomUUID()));
        // A repeated call is refused for other reasons: its review has its lease.
        const held = claim && (await unitOfWork.read(context.call.actor, (work) => findReview(work, claim)));
        throw held?.state === 'pending' ? reviewPending(held, unitOfWork.settings) : error;
      }
    };
  };

  async function hold(
    context: CallContext,
    refusal: ReviewRequired,
    claim: IdempotencyClaim | null,
  ): Promise<Answer> {
    const { actor, approver } = context.call;
    if (!claim) throw refusal;
    let held = await unitOfWork.write(actor, (work) => open(work, context, refusal, claim));
    if (approver) {
      held = await ask(approver, held);
      await approver.confirm();
    }
    if (held.answer !== null)
      return { body: held.answer, output: JSON.parse(held.answer) as object, replayed: false };
    const { settings } = unitOfWork;
    throw held.state === 'denied' ? approvalDenied(held, settings) : reviewPending(held, settings);
  }
}

function open(
  work: Work,
  { call: { operation, approver }, input }: CallContext,
  refusal: ReviewRequired,
  claim: IdempotencyClaim,
): Promise<Approval> {
  const fields = Object(input) as { lease_id?: string };
  const action = approvalActions.find((name) => name === operation.name);
  if (action === undefined) throw new Error(`${operation.name} has no reviews`);
  const { lease_id } = fields;
  return holdForReview(work, refusal, {
    action,
    input: fields,
    shown: describeCall(operation, fields),
    claim,
    client_name: approver?.client_name ?? null,
    answered: approver?.answered ?? [],
    lease: lease_id === undefined ? null : { lease_id, ends: operation.review?.ends_lease === true },
  });
}

/** @param key in place of the key of the call */
function createReviewClaim(
  operation: Operation,
  context: CallContext,
  key = context.call.idempotency_key,
): IdempotencyClaim | null {
  const { call } = context;
  if (key !== undefined) return createClaim({ ...context, call: { ...call, idempotency_key: key } });
  const identity = operation.review?.identity?.(context.input);
  if (!identity) return null;
  return createClaim({
    input: identity.request,
    file: null,
    call: { ...call, idempotency_key: identity.key },
  });
}
