import fc, { type Arbitrary } from 'fast-check';
import { hostileBodies, hostileQueries, hostileSegments } from './hostile-values.ts';

/** Adds a hostile value to one segment of a path, or after it. */
export const hostilePath: Arbitrary<(path: string) => string> = fc
  .tuple(
    fc.nat(9),
    fc.constantFrom(...hostileSegments),
    fc.constantFrom('replace', 'insert', 'append', 'slash', 'upper'),
  )
  .map(([place, part, how]) => (path: string) => {
    const [address = '', ...query] = path.split('?');
    const segments = address.split('/').slice(1);
    const at = place % segments.length;
    if (how === 'replace') segments[at] = part;
    else if (how === 'insert') segments.splice(at, 0, part);
    else if (how === 'append') segments.push(part);
    else if (how === 'slash') segments.push('', '');
    else segments[at] = segments[at]?.startsWith('{{') ? part : (segments[at]?.toUpperCase() ?? '');
    return [`/${segments.join('/')}`, ...query].join('?');
  });

/** Adds a hostile query. */
export const hostileQuery: Arbitrary<(path: string) => string> = fc
  .tuple(fc.constantFrom(...hostileQueries), fc.boolean())
  .map(([query, alone]) => (path: string) => {
    const [address = '', own] = path.split('?');
    return own === undefined || alone ? `${address}?${query}` : `${address}?${own}&${query}`;
  });

const latin1Text = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCodePoint(code)),
  maxLength: 300,
});

const headers: Record<string, readonly string[]> = {
  'Idempotency-Key': [
    '',
    ' ',
    'a b',
    'é',
    'x'.repeat(255),
    'x'.repeat(256),
    'again-1',
    'again-2',
    'again-3',
    ',',
  ],
  Authorization: [
    '',
    'Bearer',
    'Bearer ',
    'bearer x',
    'Basic YTpi',
    'Bearer a b',
    `Bearer ${'x'.repeat(5_000)}`,
    'Bearer é',
    'Negotiate',
  ],
  Accept: [
    '',
    'text/html',
    '*/*;q=0',
    'application/xml',
    'nonsense',
    ',,,',
    'application/json;q=2',
    'a/b;c="',
  ],
  'Content-Type': [
    '',
    'text/plain',
    'application/json; charset=utf-16',
    'application/json;',
    '/',
    'application/json, text/html',
    'multipart/form-data',
  ],
  'X-Request-Id': ['', 'short', 'x'.repeat(500), '<script>', 'é'.repeat(20), 'good-request-id'],
  'If-None-Match': ['*', '"x"', 'W/"x"', ','],
  'If-Modified-Since': ['Thu, 01 Jan 2099 00:00:00 GMT', 'nonsense'],
  'Content-Encoding': ['gzip', 'identity', 'br, gzip', ''],
  'X-HTTP-Method-Override': ['DELETE'],
  'X-Forwarded-For': ['127.0.0.1', ','],
  Range: ['bytes=0-1', 'bytes=9-1'],
  Cookie: ['a=b', '='.repeat(1_000)],
  'Accept-Encoding': ['gzip;q=0', '*;q=0'],
  'Mcp-Session-Id': ['x'],
};

/** Invalid, unusual or misused headers. Each replaces the valid one. */
export const hostileHeaders: Arbitrary<[string, string][]> = fc.array(
  fc
    .constantFrom(...Object.entries(headers))
    .chain(([name, values]) =>
      fc
        .oneof({ weight: 4, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: latin1Text })
        .map((value): [string, string] => [name, value]),
    ),
  { minLength: 1, maxLength: 2 },
);

/** How the bytes of a body are corrupted. */
export interface BodyCorruption {
  kind: 'cut' | 'after' | 'before' | 'twice' | 'instead' | 'utf16' | 'latin1' | 'disconnect';
  /** For `cut`, in percent. */
  at: number;
  text: string;
}

export const arbitraryBodyCorruption: Arbitrary<BodyCorruption> = fc.record({
  kind: fc.constantFrom('cut', 'after', 'before', 'twice', 'instead', 'utf16', 'latin1', 'disconnect'),
  at: fc.nat(99),
  text: fc.constantFrom(...hostileBodies),
});

type Corrupt = (body: string, corruption: BodyCorruption) => Buffer;

const truncate: Corrupt = (body, { at }) => {
  const bytes = Buffer.from(body);
  return bytes.subarray(0, Math.floor((bytes.length * at) / 100));
};

const corruptions: Record<BodyCorruption['kind'], Corrupt> = {
  cut: truncate,
  disconnect: truncate,
  after: (body, { text }) => Buffer.from(body + text),
  before: (body, { text }) => Buffer.from(text + body),
  twice: (body) => Buffer.from(body + body),
  instead: (_, { text }) => Buffer.from(text),
  utf16: (body) => Buffer.from(body, 'utf16le'),
  latin1: () => Buffer.from('{"é":"ÿÀ\u0080"}', 'latin1'),
};

/** The bytes to send. */
export function corruptBody(body: string, corruption: BodyCorruption): Buffer {
  return corruptions[corruption.kind](body, corruption);
}
