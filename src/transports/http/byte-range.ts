export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The part of `size` bytes that a Range header asks for (RFC 9110, section 14.2): null when everything is to be sent, which is so
 * for several ranges at once and for what is no range of bytes; 'unsatisfiable' when it lies outside.
 */
export function parseByteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  const match = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/.exec(header.trim());
  if (!match) return null;
  const [, from, to, suffix] = match;
  if (from === undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(from);
  const end = to ? Math.min(Number(to), size - 1) : size - 1;
  if (to && Number(to) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}
