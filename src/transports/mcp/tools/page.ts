import type { Operation } from '../../../operations/define.ts';
import type { ObjectSchema } from './json-schemas.ts';

const pageFieldNames = ['limit', 'message_limit'];

/** The field of its input by which a read can be asked for fewer items, if it has one. */
export function findPageField(operation: Operation, input: ObjectSchema): string | undefined {
  return operation.kind === 'read' ? pageFieldNames.find((name) => name in input.properties) : undefined;
}

/** How many items an answer holds: those of its longest list. */
export function countItems(answer: Record<string, unknown>): number {
  const lists = Object.values(answer).filter((value) => Array.isArray(value));
  return Math.max(0, ...lists.map((list) => list.length));
}
