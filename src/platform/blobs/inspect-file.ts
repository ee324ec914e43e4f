import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';

export interface FileFacts {
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  /** The media type, for formats with a signature in their first bytes. */
  signature: string | undefined;
  /** Valid UTF-8 without bytes that occur in binary data only. */
  isText: boolean;
  /** A text that begins and ends like JSON. */
  isJson: boolean;
  /** Up to 4,100 bytes. */
  beginning: Buffer;
}

/** Enough bytes for every signature. */
const headerBytes = 4_100;

/** The binary data bytes of WHATWG MIME Sniffing, section 3. Each is a character of its own in UTF-8. */
// oxlint-disable-next-line no-control-regex
const binaryPattern = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/** Inspects the bytes of a file as they pass, and keeps only its beginning in memory. */
export function createFileInspector() {
  const hash = createHash('sha256');
  const headerChunks: Buffer[] = [];
  const text = createTextInspector();
  let size_bytes = 0;

  return {
    take(chunk: Uint8Array): void {
      hash.update(chunk);
      if (size_bytes < headerBytes)
        headerChunks.push(Buffer.from(chunk.subarray(0, headerBytes - size_bytes)));
      size_bytes += chunk.byteLength;
      text.take(chunk);
    },

    /** To be called once, at the end. */
    async facts(): Promise<FileFacts> {
      const beginning = Buffer.concat(headerChunks);
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
      const trimmed = piece.trim();
      first ||= trimmed.slice(0, 1);
      last = trimmed.slice(-1) || last;
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
