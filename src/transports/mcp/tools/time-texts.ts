/** Names of fields with a time in milliseconds since the Unix epoch. */
export const timeField = /_(?:at|since|until)$/;
/** The times that a Date can hold. */
const maxTime = 8.64e15;

/**
 * Adds an RFC 3339 text beside every time of an output, for models: `created_at_text` beside `created_at`. Content that other agents wrote
 * as objects, such as metadata, is left as it is.
 */
export function addTimeTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addTimeTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]: [string, unknown]) => {
      if (key === 'metadata') return [[key, child]];
      const text = timeField.test(key) ? toText(child) : undefined;
      const entry: [string, unknown] = [key, addTimeTexts(child)];
      return text === undefined ? [entry] : [entry, [`${key}_text`, text]];
    }),
  );
}

function toText(value: unknown): string | undefined {
  return Number.isInteger(value) && Math.abs(Number(value)) <= maxTime
    ? new Date(Number(value)).toISOString()
    : undefined;
}
