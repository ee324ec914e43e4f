/** What the bytes of a file say of it. */
export interface DetectedContent {
  /** The media type of a format that announces itself in its first bytes. */
  signature: string | undefined;
  /** UTF-8 throughout, without bytes that only binary data has. */
  isText: boolean;
  /** A text that begins and ends as JSON does. */
  isJson: boolean;
}

const unspecified = 'application/octet-stream';

/** Formats that begin with a signature. A file is one of them exactly when it does. */
const signatureTypeByExtension: Record<string, string> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
const signatureTypes = new Set(Object.values(signatureTypeByExtension));

/** Kinds of text, which only their names tell apart. */
const textTypeByExtension: Record<string, string> = {
  json: 'application/json',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
};
const textTypes = new Set([...Object.values(textTypeByExtension), 'text/plain']);

/** Other names of the same types. */
const aliases: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'text/json': 'application/json',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
  'binary/octet-stream': unspecified,
};

/** Every type that a file can have here. */
export const fileTypes: ReadonlySet<string> = new Set([...signatureTypes, ...textTypes, unspecified]);

/** Whether content of this type is shown as text. */
export function isTextType(type: string): boolean {
  return textTypes.has(type);
}

/** A media type as it is written in a header, without its parameters and under its usual name. */
export function normalizeMediaType(given: string): string {
  const [type = ''] = given.toLowerCase().split(';');
  return aliases[type.trim()] ?? type.trim();
}

/**
 * The media type of a file: decided from its bytes, with the name as a hint where bytes cannot tell. Undefined when the bytes are
 * not what the uploader or the name says.
 * @param declared what the uploader says; undefined or application/octet-stream says nothing.
 */
export function detectFileType(
  file: DetectedContent,
  declared: string | undefined,
  filename: string,
): string | undefined {
  const found =
    file.signature !== undefined && signatureTypes.has(file.signature) ? file.signature : undefined;
  const extension = /\.([a-z\d]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  const said =
    declared === undefined || normalizeMediaType(declared) === unspecified
      ? undefined
      : normalizeMediaType(declared);
  const promised = said ?? signatureTypeByExtension[extension];
  if (promised !== undefined && signatureTypes.has(promised)) return promised === found ? found : undefined;
  if (found !== undefined) return said === undefined ? found : undefined;
  if (said === undefined)
    return file.isText ? resolveTextType(file, textTypeByExtension[extension]) : unspecified;
  if (!textTypes.has(said) || !file.isText) return undefined;
  return said === 'application/json' && !file.isJson ? undefined : said;
}

function resolveTextType({ isJson }: DetectedContent, named = 'text/plain'): string {
  return named === 'application/json' && !isJson ? 'text/plain' : named;
}
