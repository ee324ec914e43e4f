import { DomainError, wrongField } from '../errors.ts';

/** The result of an inspection of the bytes. */
export interface DetectedContent {
  /** The media type, for formats with a signature in their first bytes. */
  signature: string | undefined;
  /** The encoding of a text; undefined for binary data. */
  encoding: string | undefined;
  /** A text in UTF-8 that begins and ends like JSON. */
  isJson: boolean;
}

const unspecified = 'application/octet-stream';

/** Images and PDF. A file has one of these types exactly when it has the signature. */
const verifiedTypeByExtension: Record<string, string> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
const verifiedTypes = new Set(Object.values(verifiedTypeByExtension));

/** Text formats. Only the file name distinguishes them. */
const textTypeByExtension: Record<string, string> = {
  json: 'application/json',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  htm: 'text/html',
  svg: 'image/svg+xml',
  xml: 'application/xml',
  js: 'text/javascript',
  mjs: 'text/javascript',
  css: 'text/css',
};

/** Aliases of media types. */
const aliases: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  // An animated PNG is a PNG.
  'image/apng': 'image/png',
  'text/json': 'application/json',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
  'binary/octet-stream': unspecified,
};

/** RFC 6838, section 4.2. */
const essencePattern = /^[a-z\d][a-z\d!#$&^_.+-]{0,126}\/[a-z\d][a-z\d!#$&^_.+-]{0,126}$/;
/** A parameter, or none, after its semicolon (RFC 9110, section 5.6.6). */
const parameterPattern =
  /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=([!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*"))?/gy;
/** Of a media type with its parameters. */
const maxTypeLength = 200;

/**
 * Media types that a browser would run when it opens the file: pages, style sheets, scripts (also under the names of the WHATWG MIME
 * Sniffing standard, section 4.6), everything in XML, and archives of pages.
 */
const activeTypes = [
  /^text\/(?:html|css|xml|xsl|x-component|cache-manifest)$/,
  /^application\/(?:xml|wasm|hta|x-shockwave-flash)$/,
  /^(?:text|application)\/xml-/,
  /\+xml$/,
  /\/(?:x-)?(?:java|ecma|live|vb|j)script/,
  /^(?:multipart|message)\//,
];

/** The Content-Type under which a file is served. Files that a browser would run are served as bytes without a type. */
export function servedType(type: string): string {
  return activeTypes.some((pattern) => pattern.test(essenceOf(type))) ? unspecified : type;
}

/** A media type without its parameters. */
export function essenceOf(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim();
}

/**
 * Normalizes the media type of a header: no aliases, and names in lower case. Parameters stay.
 * @throws {DomainError} VALIDATION_ERROR when it is not a media type, or has an invalid parameter.
 */
export function normalizeMediaType(header: string): string {
  const essence = essenceOf(header).toLowerCase();
  if (!essencePattern.test(essence))
    throw wrongField('content_type', 'must be a media type, such as text/plain');
  const parameters = parseParameters(header.includes(';') ? header.slice(header.indexOf(';')) : '');
  const type = [aliases[essence] ?? essence, ...parameters].join('; ');
  if (type.length <= maxTypeLength) return type;
  throw wrongField('content_type', `must have at most ${maxTypeLength} characters`);
}

/** @throws {DomainError} VALIDATION_ERROR */
function parseParameters(text: string): string[] {
  const found = [...text.trimEnd().matchAll(parameterPattern)];
  const parsed = found.flatMap(([, name, value]) => (name ? [[name.toLowerCase(), value] as const] : []));
  const length = found.reduce((sum, [parameter]) => sum + parameter.length, 0);
  const isWhole = length === text.trimEnd().length && !/[^\t\x20-\x7e]/.test(text);
  if (!isWhole || new Set(parsed.map(([name]) => name)).size < parsed.length) {
    const message = 'must be a media type with valid parameters, such as text/plain; charset=utf-8';
    throw wrongField('content_type', message);
  }
  return parsed.map(([name, value]) => `${name}=${value}`);
}

/** Whether a header has this media type. Case does not matter (RFC 9110, section 8.3.1). */
export function isSameMediaType(header: string, type: string): boolean {
  try {
    return normalizeMediaType(header).toLowerCase() === type.toLowerCase();
  } catch {
    return false;
  }
}

/**
 * The media type of a file: the declared one, otherwise one that is detected from the bytes and the extension.
 * @param declared the type that the uploader sent; undefined and application/octet-stream mean unknown.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE when the file is declared or named as an image or PDF and is something else;
 * VALIDATION_ERROR when `declared` is not a media type.
 */
export function detectFileType(
  file: DetectedContent,
  declared: string | undefined,
  filename: string,
): string {
  const declaredType = normalizeMediaType(declared ?? unspecified);
  const declaredEssence = essenceOf(declaredType);
  const isDeclared = declaredEssence !== unspecified;
  const extension = /\.([a-z\d]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  const signature = aliases[file.signature ?? ''] ?? file.signature;
  const expected = isDeclared ? declaredEssence : verifiedTypeByExtension[extension];
  if (expected !== undefined && contradicts(signature, expected)) {
    const claim = isDeclared ? `declared as ${expected}` : `named like ${expected}`;
    const found = signature ?? (file.encoding === undefined ? 'of an unknown type' : 'text/plain');
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `The file is ${claim}, but its content is ${found}.`);
  }
  if (isDeclared) return declaredType;
  if (signature !== undefined && verifiedTypes.has(signature)) return signature;
  return file.encoding === undefined ? unspecified : resolveTextType(file, textTypeByExtension[extension]);
}

/** Whether a file with this signature cannot be the image or PDF that it is expected to be. */
function contradicts(signature: string | undefined, expected: string): boolean {
  if (verifiedTypes.has(expected)) return signature !== expected;
  if (signature === undefined || !expected.startsWith('image/') || expected === 'image/svg+xml') return false;
  return verifiedTypes.has(signature) || !signature.startsWith('image/');
}

function resolveTextType({ isJson }: DetectedContent, named = 'text/plain'): string {
  return named === 'application/json' && !isJson ? 'text/plain' : named;
}

/** Whether the beginning of the file is readable as text. */
export function isReadable(file: DetectedContent, type: string): boolean {
  return file.encoding !== undefined && !verifiedTypes.has(essenceOf(type));
}

/**
 * Checks that files of a type are accepted.
 * @param accepted null accepts all types.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE
 */
export function requireAcceptedType(accepted: readonly string[] | null, type: string): void {
  if (accepted === null || accepted.includes(essenceOf(type))) return;
  const message = `Files of type ${type} are not accepted. Use one of ${accepted.join(', ')}.`;
  throw new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
}

/**
 * Checks a type before the file is uploaded. An unknown type is decided when the bytes are there.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE
 */
export function requireAcceptedDeclaration(accepted: readonly string[] | null, type: string): void {
  if (essenceOf(type) !== unspecified) requireAcceptedType(accepted, type);
}
