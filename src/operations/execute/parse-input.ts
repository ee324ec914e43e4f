import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import type { Operation } from '../define.ts';
import type { Run } from './context.ts';

/** Parses the input by the schema of the operation. @throws {DomainError} as `parseInput` */
export function parse(operation: Operation, next: Run): Run {
  return async (context) => {
    const { input, fields } = context.call;
    context.input = parseInput(operation.input, input, fields);
    return next(context);
  };
}
