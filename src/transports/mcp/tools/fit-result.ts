import type { Operation } from '../../../operations/define.ts';
import type { ObjectSchema } from './json-schemas.ts';
import { ownTurn } from '../../../shared/map-in-turns.ts';
import { preview } from './preview.ts';
import { fitsResult, maxResultBytes } from './result-budget.ts';

export interface FitOptions {
  /** Runs the operation and returns its output as JSON text and as an object. */
  run(input: Record<string, unknown>): Promise<{ body: string; output: object }>;
  input: Record<string, unknown>;
  /** The input field that limits the number of items. */
  page_field: string | undefined;
}

export interface FittedResult {
  text: string;
  value: Record<string, unknown>;
}

/** Allows for items that are longer than the average of the previous page. */
const safetyMargin = 0.9;

/**
 * Returns a result that fits the budget. Long texts become previews; if that is not enough, the read runs again for fewer items, so that
 * its cursor continues after the last returned item. A request for one item returns it whole: `read_the_rest` names such a call.
 */
export async function fitResult({ run, input, page_field }: FitOptions): Promise<FittedResult> {
  const isForOneItem = page_field !== undefined && input[page_field] === 1;
  let currentInput = input;
  for (;;) {
    const { body, output } = await run(currentInput);
    const fullOutput: Record<string, unknown> = { ...output };
    if (isForOneItem || fitsResult(body)) return { text: body, value: fullOutput };
    await ownTurn();
    const cut = preview(fullOutput, fitsResult);
    const items = countItems(fullOutput);
    if (fitsResult(cut.text) || page_field === undefined || items <= 1) return cut;
    const share = maxResultBytes(cut.text) / Buffer.byteLength(cut.text);
    const fewer = Math.floor(items * share * safetyMargin);
    currentInput = { ...input, [page_field]: Math.max(1, Math.min(fewer, items - 1)) };
  }
}

const pageFieldNames = ['limit', 'message_limit'];

/** The input field that limits the number of items of a read operation, if it has one. */
export function findPageField(operation: Operation, input: ObjectSchema): string | undefined {
  return operation.kind === 'read' ? pageFieldNames.find((name) => name in input.properties) : undefined;
}

/** The number of items in an output: the length of its longest list. */
function countItems(output: Record<string, unknown>): number {
  const lists = Object.values(output).filter((value) => Array.isArray(value));
  return Math.max(0, ...lists.map((list) => list.length));
}
