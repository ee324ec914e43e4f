import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';

export interface FileFacts {
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  /** The media type of a format that announces itself in its first bytes. */
  signature: string | undefined;
  /** UTF-8 throughout, without bytes that only binary data has. */
  isText: boolean;
  /** A text that begins and ends as JSON does. */
  isJson: boolean;
  /** Up to 4,100 bytes. */
  beginning: Buffer;
}

/** As much as every signature needs. */
const headerBytes = 4_100;

/** WHATWG MIME Sniffing, section 3: the bytes that only binary data has. All of them are characters of their own in UTF-8. */
// oxlint-disable-next-line no-control-regex
const binaryPattern = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/** Watches the bytes of a file pass by and learns what can be known of it, with no more than its beginning in memory. */
export function createFileInspector() {
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  const text = createTextInspector();
  let size_bytes = 0;

  return {
    take(chunk: Uint8Array): void {
      hash.update(chunk);
      if (size_bytes < headerBytes) head.push(Buffer.from(chunk.subarray(0, headerBytes - size_bytes)));
      size_bytes += chunk.byteLength;
      text.take(chunk);
    },

    /** To be asked once, at the end. */
    async facts(): Promise<FileFacts> {
      const beginning = Buffer.concat(head);
      const signature = (await fileTypeFromBuffer(beginning))?.mime;
      return { size_bytes, sha256: hash.digest('hex'), signature, ...text.facts(), beginning };
    },
  };
}

function createTextInspector() {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isText = true;
  let first = '';
  let last = '';

  function look(decode: () => string): void {
    if (!isText) return;
    try {
      const piece = decode();
      isText = !binaryPattern.test(piece);
      const said = piece.trim();
      first ||= said.slice(0, 1);
      last = said.slice(-1) || last;
    } catch {
      isText = false; // the only error that decode has
    }
  }

  return {
    take: (chunk: Uint8Array) => look(() => decoder.decode(chunk, { stream: true })),
    facts() {
      look(() => decoder.decode());
      return { isText, isJson: isText && isJsonShape(first, last) };
    },
  };
}

function isJsonShape(first: string, last: string): boolean {
  if (first === '{') return last === '}';
  if (first === '[') return last === ']';
  if (first === '"') return last === '"';
  return /[-\dtfn]/.test(first) && /[\del]/.test(last);
}
