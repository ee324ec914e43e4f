import { describe, expect, test } from 'vitest';
import {
  detectFileType,
  normalizeMediaType,
  servedType,
  type DetectedContent,
} from '../../../packages/core/src/domain/attachments/file-types.ts';

const text: DetectedContent = { signature: undefined, encoding: 'utf-8', isJson: false };
const latin1: DetectedContent = { ...text, encoding: 'windows-1252' };
const json: DetectedContent = { ...text, isJson: true };
const binary: DetectedContent = { ...text, encoding: undefined };
const png: DetectedContent = { ...binary, signature: 'image/png' };
const animatedPng: DetectedContent = { ...binary, signature: 'image/apng' };
const pdfText: DetectedContent = { ...text, signature: 'application/pdf' };
const xml: DetectedContent = { ...text, signature: 'application/xml' };
const zip: DetectedContent = { ...binary, signature: 'application/zip' };
const bitmap: DetectedContent = { ...binary, signature: 'image/bmp' };
const octets = 'application/octet-stream';

test.each([
  ['text/plain; charset=shift_jis', 'text/plain; charset=shift_jis'],
  [' TEXT/PLAIN ;CHARSET="Shift_JIS" ; ', 'text/plain; charset="Shift_JIS"'],
  ['a/b; x="y;z\\""', 'a/b; x="y;z\\""'],
  ['a/b;; c=d', 'a/b; c=d'],
])('%j keeps its parameters', (header, type) => {
  expect(normalizeMediaType(header)).toBe(type);
  expect(normalizeMediaType(type)).toBe(type);
});

test('parameters do not change what a type is', () => {
  expect(servedType('text/html; charset=utf-8')).toBe(octets);
  expect(servedType('image/svg+xml;a=b')).toBe(octets);
  expect(servedType('text/plain; charset=shift_jis')).toBe('text/plain; charset=shift_jis');
  expect(() => detectFileType(text, 'image/png; a=b', 'a.png')).toThrow('declared as image/png, but');
  expect(detectFileType(png, `${octets}; a=b`, 'a.png')).toBe('image/png');
  expect(() => normalizeMediaType(`a/b; c=${'x'.repeat(200)}`)).toThrow('at most 200 characters');
});

describe('the type of a file', () => {
  test.each<[string, DetectedContent, string | undefined, string, string]>([
    ['a declared image', png, 'image/png', 'a.png', 'image/png'],
    ['an image without a declared type', png, undefined, 'a', 'image/png'],
    ['an image declared as octets', png, octets, 'a.bin', 'image/png'],
    ['an animated image', animatedPng, 'image/png', 'a.png', 'image/png'],
    ['an image declared as text', png, 'text/plain', 'a.txt', 'text/plain'],
    ['an image of another format', bitmap, 'image/x-ms-bmp', 'a.bmp', 'image/x-ms-bmp'],
    ['an image without a signature', binary, 'image/x-tga', 'a.tga', 'image/x-tga'],
    ['a declared PDF of plain characters', pdfText, 'application/pdf', 'a.pdf', 'application/pdf'],
    ['declared SVG', xml, 'image/svg+xml', 'a.svg', 'image/svg+xml'],
    ['SVG by name', xml, undefined, 'a.svg', 'image/svg+xml'],
    ['declared HTML', text, 'text/html', 'a.html', 'text/html'],
    ['HTML by name', text, undefined, 'a.html', 'text/html'],
    ['text', text, 'text/plain', 'a.txt', 'text/plain'],
    ['text with parameters', text, 'Text/Plain;Charset=utf-8', 'a.txt', 'text/plain; charset=utf-8'],
    ['text without a declared type', text, undefined, 'a', 'text/plain'],
    ['Markdown by name', text, octets, 'a.md', 'text/markdown'],
    ['CSV by name', text, undefined, 'A.CSV', 'text/csv'],
    ['CSV in Latin-1 by name', latin1, undefined, 'a.csv', 'text/csv'],
    ['declared CSV in Latin-1', latin1, 'text/csv', 'a.csv', 'text/csv'],
    ['JSON by name', json, undefined, 'a.json', 'application/json'],
    ['invalid JSON by name', text, undefined, 'a.json', 'text/plain'],
    ['declared JSON that is invalid', text, 'application/json', 'a.json', 'application/json'],
    ['bytes declared as CSV', binary, 'text/csv', 'a.csv', 'text/csv'],
    ['bytes', binary, undefined, 'a.dat', octets],
    ['an archive without a declared type', zip, octets, 'a.zip', octets],
    ['a declared archive', zip, 'application/zip', 'a.zip', 'application/zip'],
    ['an unknown type', binary, 'application/vnd.acme+cbor', 'a', 'application/vnd.acme+cbor'],
  ])('%s', (_, file, declared, name, type) => {
    expect(detectFileType(file, declared, name)).toBe(type);
  });

  test.each<[string, DetectedContent, string | undefined, string, string]>([
    ['another image', png, 'image/gif', 'a.gif', 'declared as image/gif, but its content is image/png'],
    ['another image by name', png, undefined, 'a.jpg', 'named like image/jpeg, but its content is image/png'],
    ['text', text, 'image/png', 'a.png', 'declared as image/png, but its content is text/plain'],
    ['text by name', text, undefined, 'a.png', 'named like image/png, but its content is text/plain'],
    ['SVG', xml, 'image/png', 'a.png', 'declared as image/png, but its content is application/xml'],
    [
      'bytes',
      binary,
      'application/pdf',
      'a',
      'declared as application/pdf, but its content is of an unknown',
    ],
    ['an image', png, 'application/pdf', 'a', 'declared as application/pdf, but its content is image/png'],
    ['an archive', zip, 'image/tiff', 'a', 'declared as image/tiff, but its content is application/zip'],
    ['a PDF', pdfText, 'image/tiff', 'a', 'declared as image/tiff, but its content is application/pdf'],
  ])('%s that is declared or named as another image or PDF is refused', (_, file, declared, name, why) => {
    const refused = expect.objectContaining({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: expect.stringContaining(why),
    });
    expect(() => detectFileType(file, declared, name)).toThrow(refused);
  });

  test('aliases of a type are the same type', () => {
    expect(normalizeMediaType(' image/JPG ')).toBe('image/jpeg');
    expect(normalizeMediaType('text/x-markdown; charset=utf-8')).toBe('text/markdown; charset=utf-8');
  });

  test.each([
    '',
    'text',
    'text/',
    '/plain',
    'text/plain/x',
    'text/pl ain',
    'text/plain\r\nX: y',
    'tëxt/plain',
    'text/plain; charset',
    'text/plain; charset=',
    'text/plain; =utf-8',
    'text/plain; charset = utf-8',
    'text/plain; charset=utf-8 x',
    'text/plain; charset="utf-8',
    'text/plain; charset=a; Charset=b',
    'text/plain; charset=\r\nX: y',
    'text/plain; name="é"',
  ])('%j is not a media type', (type) => {
    expect(() => normalizeMediaType(type)).toThrow('must be a media type');
  });
});

test.each([
  'text/html',
  'application/xhtml+xml',
  'image/svg+xml',
  'text/xml',
  'application/xml',
  'application/xml-dtd',
  'application/rss+xml',
  'text/xsl',
  'text/css',
  'text/javascript',
  'text/javascript1.5',
  'application/javascript',
  'application/x-javascript',
  'text/x-ecmascript',
  'text/jscript',
  'text/livescript',
  'text/vbscript',
  'application/wasm',
  'multipart/related',
  'message/rfc822',
])('%s could run in a browser and is served as bytes', (type) => {
  expect(servedType(type)).toBe(octets);
});

test.each([
  'text/plain',
  'text/csv',
  'application/pdf',
  'application/json',
  'image/png',
  'application/postscript',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
])('%s is served with its own type', (type) => {
  expect(servedType(type)).toBe(type);
});
