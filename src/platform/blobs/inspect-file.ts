import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';

export interface FileFacts {
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  /** The media type, for formats with a signature in their first bytes. */
  signature: string | undefined;
  /** The encoding of a text, by its WHATWG name; undefined for binary data. */
  encoding: string | undefined;
  /** A text in UTF-8 that begins and ends like JSON. */
  isJson: boolean;
  /** Up to 4,100 bytes. */
  beginning: Buffer;
}

/** Enough bytes for every signature. */
const headerBytes = 4_100;

/** The binary data bytes of WHATWG MIME Sniffing, section 3, as characters. */
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

/** In the order of preference. */
const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;

/** Finds the encoding of a text, and whether it is JSON. A text in UTF-16 begins with a byte order mark. */
function createTextInspector() {
  const checks = encodings.map((encoding) => createEncodingCheck(encoding));
  const [utf8] = checks;
  return {
    take(chunk: Uint8Array): void {
      for (const check of checks) check.take(chunk);
    },
    facts() {
      for (const check of checks) check.end();
      const encoding = checks.find(({ isValid }) => isValid())?.encoding;
      return { encoding, isJson: utf8?.isJson() ?? false };
    },
  };
}

/** Decodes a file in one encoding until the first error or binary data byte. */
function createEncodingCheck(encoding: (typeof encodings)[number]) {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const needsMark = encoding.startsWith('utf-16');
  let isValid = true;
  let isEmpty = true;
  let first = '';
  let last = '';

  function look(decode: () => string): void {
    if (!isValid) return;
    try {
      const piece = decode();
      if (piece === '') return;
      isValid = !binaryPattern.test(piece) && !(isEmpty && needsMark && !piece.startsWith('\uFEFF'));
      isEmpty = false;
      const trimmed = piece.trim();
      first ||= trimmed.slice(0, 1);
      last = trimmed.slice(-1) || last;
    } catch {
      isValid = false; // the only error that decode has
    }
  }

  return {
    encoding,
    take: (chunk: Uint8Array) => look(() => decoder.decode(chunk, { stream: true })),
    end: () => look(() => decoder.decode()),
    isValid: () => isValid,
    isJson: () => isValid && isJsonShape(first, last),
  };
}

function isJsonShape(first: string, last: string): boolean {
  if (first === '{') return last === '}';
  if (first === '[') return last === ']';
  if (first === '"') return last === '"';
  return /[-\dtfn]/.test(first) && /[\del]/.test(last);
}
