import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findHits,
  parseSearch,
  toTsQuery,
  toWordsQuery,
} from '../../../packages/core/src/domain/search/query.ts';
import { tokenize } from '../../../packages/core/src/domain/search/tokenizer.ts';

const toQuery = (query: string) => toTsQuery(parseSearch(query, 'q'));

describe('a query', () => {
  test.each([
    ['words are all wanted', 'Blue  whale', "('blue')&('whale')"],
    ['a phrase stands side by side', '"blue whale" sea', "('blue'<->'whale')&('sea')"],
    ['quotes of print are quotes', '“blue whale”', "('blue'<->'whale')"],
    ['a phrase without an end', '"blue whale', "('blue'<->'whale')"],
    ['a minus excludes', 'blue -whale -"deep sea"', "('blue')&!('whale')&!('deep'<->'sea')"],
    ['a minus inside a word does not', 'e-mail', "('e'<->'mail')"],
    ['a minus alone is nothing', '- blue', "('blue')"],
    ['a star makes a prefix', 'wha* b*', "('wha':*)&('b':*)"],
    ['a star in a phrase too', '"blue wha*"', "('blue'<->'wha':*)"],
    ['a star alone is nothing', '* blue *', "('blue')"],
    ['operators are only text', "blue & !whale | (sea) <-> 'x':* \\", "('blue')&('whale')&('sea')&('x')"],
    ['a run without spaces is found inside longer ones', '東京都', "('東京'<->'京都')"],
    ['one character is found everywhere', '京', "('京':*)"],
    ['a run that ends inside a phrase ends there', '"東京 tower"', "('東京'<->'京'<->'tower')"],
    ['a run after a word', 'iPhone手', "('iphone'<->'手':*)"],
    ['a star behind such a run means nothing', '東京*', "('東京')"],
    ['a Korean word is found with particles', '서버 "API를 확인"', "('서버':*)&('api'<->'를':*<->'확인':*)"],
    ['an identifier', 'ERR_CONN', "('err'<->'conn')"],
    ['parts of an identifier', 'camelCase', "('camelcase'|'camel'<0>'case')"],
    ['parts of an identifier in a phrase', '"call camelCase"', "('call'<->('camelcase'|'camel'<0>'case'))"],
    ['an identifier that begins so', 'camelCase*', "('camelcase':*)"],
    ['emoji anywhere', '"done 🎉 now" 😀', "('done'<->'now')&('🎉')&('😀')"],
  ])('%s', (_what, query, expected) => {
    expect(toQuery(query)).toBe(expected);
  });

  test.each([
    ['of a phrase, in any order', '"blue whale" sea', "('blue'&'whale')&('sea')"],
    ['of a prefix', '"blue wha*"', "('blue'&'wha':*)"],
    ['of a run without spaces', '東京都', "('東京'&'京都')"],
    ['of an identifier', '"call camelCase"', "('call'&('camelcase'|'camel'&'case'))"],
    ['that are excluded', 'blue -whale', "('blue')&!('whale')"],
    ['without excluded phrases, because each word of one can occur', 'blue -"deep sea"', "('blue')"],
  ])('has words %s', (_what, query, expected) => {
    expect(toWordsQuery(parseSearch(query, 'q'))).toBe(expected);
  });

  test.each([['   '], ['"" - *'], ['-blue'], ['-"blue whale" -x'], ['…!?'], ['___']])(
    'without a term is refused: %j',
    (query) => {
      expect(() => parseSearch(query, 'q')).toThrow(
        expect.objectContaining({
          code: 'VALIDATION_ERROR',
          details: [{ field: 'q', message: 'must name at least one word to find' }],
        }),
      );
    },
  );

  test('has at most 20 terms', () => {
    expect(parseSearch('x '.repeat(20), 'q')).toHaveLength(20);
    expect(() => parseSearch('x '.repeat(21), 'query')).toThrow(
      expect.objectContaining({ details: [{ field: 'query', message: 'must have at most 20 terms' }] }),
    );
  });

  test('has at most 5 prefixes, and any number of single characters of scripts without spaces', () => {
    expect(parseSearch('a* b* "c d*" -e* f*', 'q')).toHaveLength(5);
    expect(parseSearch('京 都 人 大 小 中', 'q')).toHaveLength(6);
    expect(() => parseSearch('a* b* "c* d*" -e* f*', 'q')).toThrow(
      expect.objectContaining({ details: [{ field: 'q', message: 'must have at most 5 words with *' }] }),
    );
  });

  test('of any text is parsed or refused, with every word quoted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (query) => {
        try {
          expect(toQuery(query)).toMatch(/^!?\({1,2}'/);
        } catch (error) {
          expect(error).toMatchObject({ code: 'VALIDATION_ERROR' });
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('hits', () => {
  const found = (query: string, text: string) =>
    parseSearch(query, 'q').map((term) =>
      findHits(term, tokenize(text)).map(({ start, end }) => text.slice(start, end)),
    );

  test.each([
    ['creme', 'Crème, crème!', [['Crème', 'crème']]],
    ['"a b"', 'a a b, b a; A-B', [['a', 'b', 'A', 'B']]],
    ['wha*', 'Whale, what', [['Whale', 'what']]],
    ['my_function', 'my_function_name failed', [['my', 'function']]],
    ['case', 'a camelCaseWord', [['Case']]],
    ['caseWord', 'a camelCaseWord', [['CaseWord']]],
    ['"the camelcaseword is"', 'The camelCaseWord 😀 is', [['The', 'camelCaseWord', 'is']]],
    ['서버', '서버에서 오류', [['서버에서']]],
    ['😀', 'a 😀😀', [['😀', '😀']]],
    ['"camel case"', 'camelCase', [[]]],
    ['京', '東京都', [['京']]],
    ['東京都', '新東京都庁', [['東京', '京都']]],
    ['whale sea', 'sea', [[], ['sea']]],
  ])('of %s in %s', (query, text, expected) => {
    expect(found(query, text)).toEqual(expected);
  });

  test('match every word of a text by the word and by its beginning', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const words = tokenize(text);
        for (const word of words) {
          const itself = text.slice(word.start, word.end);
          const [term] = parseSearch(itself, 'q');
          expect(term && findHits(term, words).some(({ start }) => start === word.start), itself).toBe(true);
          const head = text.slice(word.start, word.firstCharEnd);
          const [beginning] = parseSearch(`${head}*`, 'q');
          expect(beginning && findHits(beginning, words).length, head).toBeGreaterThan(0);
        }
      }),
      { numRuns: 500 },
    );
  });
});
