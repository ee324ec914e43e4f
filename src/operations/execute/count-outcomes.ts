import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Execute } from './execute.ts';

/** `refused`: the caller can correct it. `failed`: an error of the service. */
export type OperationOutcome = 'ok' | 'refused' | 'failed';

/** Wraps `execute`: reports the outcome of each call to `onOutcome`. */
export function countOutcomes(
  execute: Execute,
  onOutcome: (operation: string, outcome: OperationOutcome) => void,
): Execute {
  return async (call) => {
    let outcome: OperationOutcome = 'failed';
    try {
      const answer = await execute(call);
      outcome = 'ok';
      return answer;
    } catch (error) {
      if (error instanceof DomainError && error.status < 500) outcome = 'refused';
      throw error;
    } finally {
      onOutcome(call.operation.name, outcome);
    }
  };
}
