import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import type { Answer, CallContext, Next } from './context.ts';

/** Parses the input by the schema of the operation. @throws {DomainError} as `parseInput` */
export async function parseInputStage(context: CallContext, next: Next): Promise<Answer> {
  const { operation, input, fields } = context.call;
  context.input = parseInput(operation.input, input, fields);
  return next();
}
