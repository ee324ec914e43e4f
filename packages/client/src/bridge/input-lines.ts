import { type Readable, Transform } from 'node:stream';

const newline = 0x0a;
const blanks = new Set([newline, 0x0d, 0x20, 0x09]);
const byteOrderMark = new Set([0xef, 0xbb, 0xbf]);

/** Not allowed anywhere in JSON: a line with it is answered as a parse error. */
const invalid = Buffer.from([0]);

const createDecoder = () => new TextDecoder('utf-8', { fatal: true });

/**
 * Passes lines on without empty ones and without a byte order mark at the start, which are no messages. Makes a line that is not valid UTF-8
 * invalid, because its text would change.
 */
function createLineFilter(): Transform {
  let isAtStart = true;
  let isFirst = true;
  let decoder = createDecoder();

  function isSkipped(byte: number | undefined): boolean {
    return byte !== undefined && (blanks.has(byte) || (isFirst && byteOrderMark.has(byte)));
  }

  /** The part with what makes it invalid, if it must be. */
  function check(part: Buffer): Buffer[] {
    try {
      decoder.decode(part, { stream: part.at(-1) !== newline });
      return [part];
    } catch {
      decoder = createDecoder();
      return [invalid, part];
    }
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const parts: Buffer[] = [];
      let index = 0;
      for (;;) {
        if (isAtStart) while (isSkipped(chunk[index])) index += 1;
        if (index >= chunk.length) break;
        const end = chunk.indexOf(newline, index) + 1 || chunk.length;
        const part = chunk.subarray(index, end);
        parts.push(...check(part));
        isFirst = false;
        isAtStart = part.at(-1) === newline;
        index = end;
      }
      done(null, Buffer.concat(parts));
    },
  });
}

/** Reads an input through the filter. `closeLines` leaves an input that is still open, which would keep the process alive. */
export function openLines(
  input: Readable,
  onError: (error: Error) => void,
): { lines: Transform; closeLines: () => void } {
  const lines = createLineFilter();
  input.once('close', () => lines.end()).on('error', onError);
  input.pipe(lines);
  return { lines, closeLines: () => void input.unpipe(lines).pause() };
}
