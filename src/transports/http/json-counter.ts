/** More than any operation takes: lists have hundreds of values, and metadata has 4 KiB. */
export const maxJsonValues = 10_000;

const codes = { quote: 0x22, comma: 0x2c, colon: 0x3a, bracket: 0x5b, backslash: 0x5c, brace: 0x7b };

export interface JsonCounter {
  /** Reads the next bytes. */
  add(bytes: Uint8Array): void;
  /** Whether the text has more fields, items, lists and objects than `maxJsonValues`. */
  hasTooMany(): boolean;
}

/**
 * Counts the values of a JSON text while its bytes arrive. A small body can have hundreds of thousands, which would keep the event loop
 * busy: the parser, the schema and the error message take time for each.
 */
export function createJsonCounter(): JsonCounter {
  let values = 0;
  let isInString = false;
  let isEscaped = false;

  function readInString(byte: number): void {
    if (isEscaped) isEscaped = false;
    else if (byte === codes.backslash) isEscaped = true;
    else if (byte === codes.quote) isInString = false;
  }

  return {
    add(bytes) {
      for (const byte of bytes) {
        if (isInString) readInString(byte);
        else if (byte === codes.quote) isInString = true;
        else if (
          byte === codes.comma ||
          byte === codes.colon ||
          byte === codes.bracket ||
          byte === codes.brace
        )
          values += 1;
      }
    },
    hasTooMany: () => values > maxJsonValues,
  };
}
