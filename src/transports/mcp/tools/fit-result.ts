import type { Operation } from '../../../operations/define.ts';
import type { ObjectSchema } from './json-schemas.ts';
import { preview } from './preview.ts';

export interface FitOptions {
  /** Runs the operation and returns its output as JSON text and as an object. */
  run(input: Record<string, unknown>): Promise<{ body: string; output: object }>;
  input: Record<string, unknown>;
  /** The input field that limits the number of items. */
  page_field: string | undefined;
  max_bytes: number;
}

export interface FittedResult {
  text: string;
  value: Record<string, unknown>;
}

/** Allows for items that are longer than the average of the previous page. */
const safetyMargin = 0.9;

/**
 * Returns a result of at most `max_bytes` of JSON. Long texts become previews; if that is not enough, the read runs again for fewer
 * items, so that its cursor continues after the last returned item. A single item is returned at any length.
 */
export async function fitResult({ run, input, page_field, max_bytes }: FitOptions): Promise<FittedResult> {
  let currentInput = input;
  for (;;) {
    const { body, output } = await run(currentInput);
    const fullOutput: Record<string, unknown> = { ...output };
    if (Buffer.byteLength(body) <= max_bytes) return { text: body, value: fullOutput };
    const cut = preview(fullOutput, max_bytes, readTheRestHint(page_field));
    const bytes = Buffer.byteLength(cut.text);
    const items = countItems(fullOutput);
    if (bytes <= max_bytes || page_field === undefined || items <= 1) return cut;
    const fewer = Math.floor((items * max_bytes * safetyMargin) / bytes);
    currentInput = { ...input, [page_field]: Math.max(1, Math.min(fewer, items - 1)) };
  }
}

function readTheRestHint(pageField: string | undefined): string {
  return pageField
    ? `To get the full text, request one item at a time (${pageField}: 1).`
    : 'The text is too long for one result. Get the item by itself or over REST.';
}

const pageFieldNames = ['limit', 'message_limit'];

/** The input field that limits the number of items of a read operation, if it has one. */
export function findPageField(operation: Operation, input: ObjectSchema): string | undefined {
  return operation.kind === 'read' ? pageFieldNames.find((name) => name in input.properties) : undefined;
}

/** The number of items in an output: the length of its longest list. */
export function countItems(output: Record<string, unknown>): number {
  const lists = Object.values(output).filter((value) => Array.isArray(value));
  return Math.max(0, ...lists.map((list) => list.length));
}
