import type { Operation } from '../../../operations/define.ts';
import type { ObjectSchema } from './json-schemas.ts';
import { preview } from './preview.ts';

export interface FitOptions {
  /** Runs the operation; answers its JSON, as text and as an object. */
  ask(input: Record<string, unknown>): Promise<{ body: string; output: object }>;
  input: Record<string, unknown>;
  /** The field of `input` by which fewer items can be asked for. */
  page_field: string | undefined;
  max_bytes: number;
}

export interface FittedResult {
  text: string;
  value: Record<string, unknown>;
}

/** Leaves room for items that are longer than the average of the page before. */
const safetyMargin = 0.9;

/**
 * An answer of at most `maximum_bytes` of JSON. Too long: its long texts become previews; still too long: a read is asked again
 * for fewer items, so that its cursor goes on right behind the last item shown. One single item is shown whatever its length.
 */
export async function fitResult({ ask, input, page_field, max_bytes }: FitOptions): Promise<FittedResult> {
  let asked = input;
  for (;;) {
    const { body, output } = await ask(asked);
    const answer: Record<string, unknown> = { ...output };
    if (Buffer.byteLength(body) <= max_bytes) return { text: body, value: answer };
    const cut = preview(answer, max_bytes, readTheRestHint(page_field));
    const bytes = Buffer.byteLength(cut.text);
    const items = countItems(answer);
    if (bytes <= max_bytes || page_field === undefined || items <= 1) return cut;
    const fewer = Math.floor((items * max_bytes * safetyMargin) / bytes);
    asked = { ...input, [page_field]: Math.max(1, Math.min(fewer, items - 1)) };
  }
}

function readTheRestHint(pageField: string | undefined): string {
  return pageField
    ? `Ask for one item at a time (${pageField}: 1) to get its text whole.`
    : 'This text is too long for one result; get the item by itself, or over REST.';
}

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
