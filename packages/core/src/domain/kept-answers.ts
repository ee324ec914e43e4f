/**
 * Begins a stored answer with only what differs from the usual output of its request. It is not JSON: a process that does not know it cannot
 * answer with it.
 */
export const differenceMark = '~';

/**
 * The text to store for an output: what differs from the usual output of its request. A repeated call has the same request, so the texts of
 * the request need not be stored again.
 * @returns undefined if that is not enough to repeat the output byte for byte.
 */
export function keepDifference(output: object, usual: object): string | undefined {
  const usualFields = new Map<string, unknown>(Object.entries(usual));
  const fields = Object.entries(output);
  const own = Object.fromEntries(fields.filter(([name, value]) => !isSame(value, usualFields.get(name))));
  const isComplete = Object.keys({ ...usual, ...own }).join() === Object.keys(output).join();
  return isComplete && fields.every(([, value]) => value !== undefined) ? toKept(own) : undefined;
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));

/** The JSON text of a stored answer. */
export function restoreAnswer(kept: string, findUsual: () => object | undefined): string {
  const own = parseDifference(kept);
  return own ? JSON.stringify({ ...findUsual(), ...own }) : kept;
}

/** What a stored answer adds to the usual output of its request; undefined if it is stored as a whole. */
export function parseDifference(kept: string): object | undefined {
  const own: unknown = kept.startsWith(differenceMark)
    ? JSON.parse(kept.slice(differenceMark.length))
    : undefined;
  return typeof own === 'object' && own !== null ? own : undefined;
}

/** The stored form of a difference. */
export const toKept = (own: object): string => differenceMark + JSON.stringify(own);
