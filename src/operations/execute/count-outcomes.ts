import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Stage } from './context.ts';

/** `refused`: the caller can correct it. `failed`: an error of the service. */
export type OperationOutcome = 'ok' | 'refused' | 'failed';

/** Reports the outcome of each call to `onOutcome`. */
export function createCountOutcomes(
  onOutcome: (operation: string, outcome: OperationOutcome) => void,
): Stage {
  return function countOutcomes({ name }, next) {
    return async (context) => {
      let outcome: OperationOutcome = 'failed';
      try {
        const answer = await next(context);
        outcome = 'ok';
        return answer;
      } catch (error) {
        if (error instanceof DomainError && error.status < 500) outcome = 'refused';
        throw error;
      } finally {
        onOutcome(name, outcome);
      }
    };
  };
}
