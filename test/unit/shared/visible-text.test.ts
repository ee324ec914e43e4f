import { expect, test } from 'vitest';
import { toOneLine, toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';

test.each([
  ['a\r\nb', 'a b'],
  ['a \u2028 b\u2029', 'a b'],
  ['tab\tand\u0085next', 'tab and next'],
  ['bell\u0007 \u001b[31m', 'bell [31m'],
  ['\u202enimda', 'nimda'],
  ['a\u2066b\u2069\u200f\ufeff\u061c', 'ab'],
  ['a\u200cb\u200dc\u00adé', 'abcé'],
  ['two  spaces\u3000kept ', 'two  spaces\u3000kept'],
  ['cafe\u0301', 'cafe\u0301'],
  ['👩‍💻 ❤️ 1️⃣ 👩🏽‍🚀 🏳️‍🌈', '👩‍💻 ❤️ 1️⃣ 👩🏽‍🚀 🏳️‍🌈'],
  ['می‌خواهم', 'می‌خواهم'],
  ['क्‍ष', 'क्‍ष'],
  ['葛\u{e0100}城', '葛\u{e0100}城'],
  ['a\u{e0100}b\ufe0f', 'ab'],
  ['⠓⠑⠇⠇⠕⠀⠺', '⠓⠑⠇⠇⠕⠀⠺'],
])('%j becomes %j', (given, line) => {
  expect(toOneLine(given)).toBe(line);
  expect(toOneLine(line)).toBe(line);
});

const nothing = [
  '',
  ' \u3000',
  '\u200b',
  '\u2060',
  '\u00ad',
  '\ufe0f',
  '\u2800',
  '\u3164',
  '\u034f',
  '\u17b4',
  '\u{e0100}',
]
  .concat([
    '\u{e0041}\u{e007f}',
    '\u202e\u202c',
    '\u0007\u001b',
    '\r\n',
    '\u115f\u1160\uffa0',
    '\u180e\u180b',
    '\u{1d159}',
  ])
  .concat(['\u200d\u200d', '\u2800\u200b \u2800', '\u0301', '\u{e0100}\u0007\u2028']);

test.each(nothing)('%j has nothing visible', (text) => {
  expect(toOneLine(text)).toBe('');
  expect(toVisibleLine(text, 10)).toBe('');
});

test('a quoted text is shortened, and takes time proportional to its length', () => {
  expect(toVisibleLine(`${'x'.repeat(9)} y`, 10)).toBe('xxxxxxxxx');
  expect(toVisibleLine(`a${'\u0301'.repeat(50)}`, 80)).toBe(`\u00e1${'\u0301'.repeat(3)}`);
  const sizes = [' \u0007', '\u2800 ', '\u200d', '👩\u200d', '\u0301'].map(
    (unit) => toOneLine(unit.repeat(100_000)).length,
  );
  expect(sizes).toEqual([0, 0, 0, 299_999, 0]);
});
