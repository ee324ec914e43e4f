import type { Work } from '../../work/unit-of-work.ts';
import type { Operation } from '../define.ts';

export interface Answer {
  /** The answer as JSON text, byte for byte the same for a repeated call. */
  body: string;
  /** The same as an object. */
  output: object;
  replayed: boolean;
  /** What is kept for a repetition, where that is not the text itself. */
  kept_as?: string;
}

/** What an operation has put out, as it is answered: parsed, so that no field leaks that the description does not name. */
export function createAnswer(
  operation: Operation,
  { sealedBox }: Pick<Work, 'sealedBox'>,
  given: object,
): Answer {
  const output = operation.output.parse(given);
  const body = JSON.stringify(output);
  const kept = operation.confidential && { kept_as: sealedBox.seal(body, operation.name).toString('base64') };
  return { body, output, replayed: false, ...kept };
}
