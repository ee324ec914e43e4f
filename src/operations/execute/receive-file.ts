import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { Stage } from './context.ts';
import type { Intake } from './file-intake.ts';
import { requireValidKey } from './idempotency.ts';

/**
 * Stores the file of a call before its transaction opens, so that no transaction waits for bytes. The bytes are removed when the call is
 * refused or replayed. When its outcome is unknown they stay: the attachment's row may be committed. If it is not, the sweep removes
 * them.
 * @throws {DomainError} what is wrong with the file; RATE_LIMITED, UNAVAILABLE
 */
export function createReceiveFile(unitOfWork: Pick<UnitOfWork, 'read'>, intake: Intake): Stage {
  return function receiveFile(operation, next) {
    if (!operation.file) return next;
    return async (context) => {
      const { actor, idempotency_key } = context.call;
      requireValidKey(idempotency_key);
      const incoming = await unitOfWork.read(actor, async (work) => operation.file?.(work, context.input));
      if (!incoming) return next(context);
      const { file, discard } = await intake(incoming, actor.agent_id);
      context.file = file;
      try {
        const answer = await next(context);
        if (answer.replayed) await discard();
        return answer;
      } catch (error) {
        if (error instanceof DomainError && error.status < 500) await discard();
        throw error;
      } finally {
        context.file = null;
      }
    };
  };
}
