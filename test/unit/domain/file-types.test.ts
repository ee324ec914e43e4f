import { describe, expect, test } from 'vitest';
import { attachmentTypes } from '../../../src/config.ts';
import {
  detectFileType,
  fileTypes,
  normalizeMediaType,
  type DetectedContent,
} from '../../../src/domain/attachments/file-types.ts';

const text: DetectedContent = { signature: undefined, isText: true, isJson: false };
const json: DetectedContent = { ...text, isJson: true };
const binary: DetectedContent = { ...text, isText: false };
const png: DetectedContent = { ...binary, signature: 'image/png' };
const pdfText: DetectedContent = { ...text, signature: 'application/pdf' };
const xml: DetectedContent = { ...text, signature: 'application/xml' };
const zip: DetectedContent = { ...binary, signature: 'application/zip' };
const octets = 'application/octet-stream';

test('the settings and the house know the same types', () => {
  expect([...fileTypes].sort()).toEqual([...attachmentTypes].sort());
});

describe('a type is decided from bytes', () => {
  test.each<[string, DetectedContent, string | undefined, string, string | undefined]>([
    ['a picture as it says', png, 'image/png', 'a.png', 'image/png'],
    ['a picture that says nothing', png, undefined, 'a', 'image/png'],
    ['a picture as octets', png, octets, 'a.bin', 'image/png'],
    ['a picture as another one', png, 'image/gif', 'a.gif', undefined],
    ['a picture with the name of another one', png, undefined, 'a.jpg', undefined],
    ['a picture as text', png, 'text/plain', 'a.txt', undefined],
    ['HTML as a picture', text, 'image/png', 'a.png', undefined],
    ['HTML with the name of a picture', text, undefined, 'a.png', undefined],
    ['SVG as a picture', xml, 'image/png', 'a.png', undefined],
    ['SVG as SVG', xml, 'image/svg+xml', 'a.svg', undefined],
    ['HTML as HTML', text, 'text/html', 'a.html', undefined],
    ['SVG that says nothing', xml, undefined, 'a.svg', 'text/plain'],
    ['PDF of plain characters as text', pdfText, 'text/plain', 'a.txt', undefined],
    ['text', text, 'text/plain', 'a.txt', 'text/plain'],
    ['text with parameters', text, 'Text/Plain; charset=utf-8', 'a.txt', 'text/plain'],
    ['text that says nothing', text, undefined, 'a', 'text/plain'],
    ['markdown by name', text, octets, 'a.md', 'text/markdown'],
    ['a table by name', text, undefined, 'A.CSV', 'text/csv'],
    ['JSON by name', json, undefined, 'a.json', 'application/json'],
    ['no JSON, by name', text, undefined, 'a.json', 'text/plain'],
    ['no JSON, as it says', text, 'application/json', 'a.json', undefined],
    ['bytes as text', binary, 'text/csv', 'a.csv', undefined],
    ['bytes', binary, undefined, 'a.dat', octets],
    ['an archive', zip, octets, 'a.zip', octets],
    ['an archive as it says', zip, 'application/zip', 'a.zip', undefined],
  ])('%s', (_, file, declared, name, type) => {
    expect(detectFileType(file, declared, name)).toBe(type);
  });

  test('other names of a type are the same type', () => {
    expect(normalizeMediaType(' image/JPG ')).toBe('image/jpeg');
    expect(normalizeMediaType('text/x-markdown; charset=utf-8')).toBe('text/markdown');
  });
});
