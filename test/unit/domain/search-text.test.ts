import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fold, toTsVector, tokenize } from '../../../packages/core/src/domain/search/tokenizer.ts';

const texts = (text: string) => tokenize(text).map((word) => word.text);

describe('words', () => {
  test.each([
    ['nothing', '', []],
    ['punctuation only', ' .,-–! … "()" ©™', []],
    ['case and accents', 'Crème BRÛLÉE façade', ['creme', 'brulee', 'facade']],
    [
      'letters that do not decompose',
      'Łódź smørrebrød Ærø œuvre đak',
      ['lodz', 'smorrebrod', 'aero', 'oeuvre', 'dak'],
    ],
    ['sharp s in all its forms', 'Straße STRASSE STRAẞE', ['strasse', 'strasse', 'strasse']],
    ['dotted and dotless i', 'İstanbul ISTANBUL ılık', ['istanbul', 'istanbul', 'ilik']],
    ['final sigma', 'ΟΔΟΣ οδός οδοςα', ['οδοσ', 'οδοσ', 'οδοσα']],
    ['Cyrillic', 'Ёлка Йод', ['елка', 'иод']],
    ['Hebrew points and Arabic vowel signs', 'שָׁלוֹם مُحَمَّد', ['שלום', 'محمد']],
    ['compatibility forms', 'ﬁne ＡＢＣ ①', ['fine', 'abc', '1']],
    ['Hangul, composed or not', '한국어 한국어'.normalize('NFD'), ['한국어', '한국어']],
    ['Devanagari keeps its vowel signs', 'हिन्दी', ['हिन्दी']],
    ['identifiers and numbers', 'read_thread v2.0 a@b.c', ['read', 'thread', 'v2', '0', 'a', 'b', 'c']],
    ['parts of identifiers', 'camelCaseWord', ['camelcaseword', 'camel', 'case', 'word']],
    [
      'parts with several capitals',
      'getHTTPResponse ID iPhone',
      ['gethttpresponse', 'get', 'http', 'response', 'id', 'iphone'],
    ],
    ['keys without their parts', 'aGVsbG8gd29ybGQgYmFzZTY0', ['agvsbg8gd29ybgqgymfzzty0']],
    ['emoji', 'ok 👍🏽 ❤️❤ 👩‍💻🇩🇪', ['ok', '👍', '❤', '❤', '👩💻', '🇩🇪']],
    ['Korean with Latin letters', 'API를 3월', ['api', '를', '3', '월']],
    ['underscores at the ends', '_this_ __init__ ___', ['this', 'init']],
    ['soft hyphens', 'Silben\u00adtrennung', ['silbentrennung']],
    ['a letter with its accent apart', 'cafe\u0301', ['cafe']],
    ['an accent alone', '\u0301 x', ['x']],
    ['Chinese', '東京都', ['東京', '京都', '都']],
    ['one character', '京', ['京']],
    ['Japanese with a sound mark', 'コーヒー', ['コー', 'ーヒ', 'ヒー', 'ー']],
    ['half-width Japanese', 'ｶﾞｽ', ['ガス', 'ス']],
    ['Thai with its marks', 'น้ำใจ', ['น\u0e49\u0e4dา', '\u0e4dาใ', 'ใจ', 'จ']],
    ['scripts side by side', 'iPhone手機2台', ['iphone', '手機', '機', '2', '台']],
    ['underscores between scripts', '手_機_2_', ['手', '機', '2']],
    ['variation selectors', '葛\u{e0100}城', ['葛城', '城']],
    ['characters beyond the first plane', '𠮷野 𝐁𝐨𝐥𝐝', ['𠮷野', '野', 'bold']],
  ])('%s', (_what, text, expected) => {
    expect(texts(text)).toEqual(expected);
  });

  test('have their positions in the text', () => {
    const text = '… Crème 東京!';
    expect(
      tokenize(text).map(({ start, end, firstCharEnd }) => [
        text.slice(start, end),
        text.slice(start, firstCharEnd),
      ]),
    ).toEqual([
      ['Crème', 'Crème'],
      ['東京', '東'],
      ['京', '京'],
    ]);
  });

  test('are counted: parts and emoji have the number of the word before', () => {
    expect(tokenize('🎉 call camelCase 😀 now').map(({ text, position }) => [text, position])).toEqual([
      ['🎉', 1],
      ['call', 2],
      ['camelcase', 3],
      ['camel', 3],
      ['case', 3],
      ['😀', 3],
      ['now', 4],
    ]);
  });

  test('longer than 100 are cut, never within a character', () => {
    expect(texts('x'.repeat(30_000))).toEqual(['x'.repeat(100)]);
    const [word] = texts(`a${'𝐁'.repeat(60)}𐐀`.repeat(2));
    expect(word?.isWellFormed()).toBe(true);
    expect(word?.length).toBeLessThanOrEqual(100);
    expect(texts(`a${'𐐀'.repeat(60)}`)).toEqual([`a${'𐐨'.repeat(49)}`]);
  });

  test('of any text are well-formed, in order, within it, and folding them again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        let before = 0;
        for (const word of tokenize(text)) {
          expect(word.text).not.toBe('');
          expect(word.text.length).toBeLessThanOrEqual(100);
          expect(word.start).toBeGreaterThanOrEqual(before);
          expect(word.firstCharEnd).toBeGreaterThan(word.start);
          expect(word.end).toBeGreaterThanOrEqual(word.firstCharEnd);
          expect(word.end).toBeLessThanOrEqual(text.length);
          before = word.start;
        }
      }),
      { numRuns: 500 },
    );
  });

  test('fold by the rule, also on the fast path', () => {
    for (let code = 0x3041; code <= 0x9fff; code += 1) {
      const letter = String.fromCharCode(code);
      expect(fold(letter)).toBe(fold(`é${letter}`).slice(1));
    }
  });

  test('fold equally in any case and any normal form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const form of ['NFC', 'NFD'] as const) expect(fold(text.normalize(form))).toBe(fold(text));
      }),
      { numRuns: 500 },
    );
    for (const word of ['straße', 'ÉCOLE', 'οδός', 'İI', 'Œuvre', 'łódź']) {
      expect(fold(word.toLowerCase())).toBe(fold(word));
      expect(fold(word.toUpperCase())).toBe(fold(word));
    }
  });
});

describe('the text of a tsvector', () => {
  test('has each word once, with its positions', () => {
    expect(toTsVector('to be or not to be')).toBe("'to':1,5 'be':2,6 'or':3 'not':4");
    expect(toTsVector('東京')).toBe("'東京':1 '京':2");
    expect(toTsVector('?')).toBe('');
  });

  test('stays within the limits of PostgreSQL', () => {
    const vector = toTsVector(`${'a '.repeat(300)}${'b c '.repeat(9_000)}end`);
    expect(vector).toContain("'end':16383");
    expect(vector.split(' ').every((word) => word.split(',').length <= 255)).toBe(true);
    // PostgreSQL refuses a word of more than 2,046 bytes, and with it the whole vector.
    const marks = '\u0e48'.repeat(10_000);
    for (const word of tokenize(`ก${marks}ข${marks} ж${marks}`))
      expect(Buffer.byteLength(word.text)).toBeLessThanOrEqual(2_046);
  });
});
