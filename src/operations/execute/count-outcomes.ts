import { DomainError } from '../../domain/errors.ts';
import type { Execute } from './execute.ts';

/** What became of an operation: `refused` when the caller can do something about it, `failed` when the fault is ours. */
export type OperationOutcome = 'ok' | 'refused' | 'failed';

/** The same door to the operations, which tells what became of each of them. */
export function countOutcomes(
  execute: Execute,
  tell: (operation: string, outcome: OperationOutcome) => void,
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
      tell(call.operation.name, outcome);
    }
  };
}
