/** The result of an inspection of the bytes. */
export interface DetectedContent {
  /** The media type, for formats with a signature in their first bytes. */
  signature: string | undefined;
  /** Valid UTF-8 without bytes that occur in binary data only. */
  isText: boolean;
  /** A text that begins and ends like JSON. */
  isJson: boolean;
}

const unspecified = 'application/octet-stream';

/** Formats with a signature. A file has one of these types exactly when it has the signature. */
const signatureTypeByExtension: Record<string, string> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
const signatureTypes = new Set(Object.values(signatureTypeByExtension));

/** Text formats. Only the file name distinguishes them. */
const textTypeByExtension: Record<string, string> = {
  json: 'application/json',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
};
const textTypes = new Set([...Object.values(textTypeByExtension), 'text/plain']);

/** Aliases of media types. */
const aliases: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'text/json': 'application/json',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
  'binary/octet-stream': unspecified,
};

/** Every accepted media type. */
export const fileTypes: ReadonlySet<string> = new Set([...signatureTypes, ...textTypes, unspecified]);

/** Whether content of this type is served as text. */
export function isTextType(type: string): boolean {
  return textTypes.has(type);
}

/** Normalizes the media type of a header: no parameters, no aliases. */
export function normalizeMediaType(header: string): string {
  const [type = ''] = header.toLowerCase().split(';');
  return aliases[type.trim()] ?? type.trim();
}

/**
 * The media type of a file, decided from its bytes; the name is a hint where the bytes are ambiguous.
 * @returns undefined when the bytes contradict the declared type or the name.
 * @param declared the type that the uploader sent; undefined and application/octet-stream mean unknown.
 */
export function detectFileType(
  file: DetectedContent,
  declared: string | undefined,
  filename: string,
): string | undefined {
  const found =
    file.signature !== undefined && signatureTypes.has(file.signature) ? file.signature : undefined;
  const extension = /\.([a-z\d]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  const declaredType =
    declared === undefined || normalizeMediaType(declared) === unspecified
      ? undefined
      : normalizeMediaType(declared);
  const expected = declaredType ?? signatureTypeByExtension[extension];
  if (expected !== undefined && signatureTypes.has(expected)) return expected === found ? found : undefined;
  if (found !== undefined) return declaredType === undefined ? found : undefined;
  if (declaredType === undefined)
    return file.isText ? resolveTextType(file, textTypeByExtension[extension]) : unspecified;
  if (!textTypes.has(declaredType) || !file.isText) return undefined;
  return declaredType === 'application/json' && !file.isJson ? undefined : declaredType;
}

function resolveTextType({ isJson }: DetectedContent, named = 'text/plain'): string {
  return named === 'application/json' && !isJson ? 'text/plain' : named;
}
