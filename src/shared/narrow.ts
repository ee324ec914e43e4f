/** The code of an error, for example `ENOENT`; undefined when it has none. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export type JsonObject = Partial<Record<string, unknown>>;

/** Parses a JSON object; null when the text is anything else. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // the caller reports invalid text
  }
}
