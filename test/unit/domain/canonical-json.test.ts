import { expect, test } from 'vitest';
import { toCanonicalJson } from '../../../packages/core/src/domain/canonical-json.ts';

test('writes the example of RFC 8785, section 3.2.2', () => {
  const value = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`);
  expect(toCanonicalJson(value)).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test('sorts as in the example of RFC 8785, section 3.2.3', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  };
  const names = Array.from(toCanonicalJson(value).matchAll(/:"(\w+)/g), ([, name]) => name);
  expect(names).toEqual(['Carriage', 'One', 'Control', 'Latin', 'Euro', 'Emoji', 'Hebrew']);
});

test('sorts names that are numbers as texts, at each depth, and leaves out properties without a value', () => {
  expect(toCanonicalJson([{ b: { 9: 1, 10: -0 }, a: undefined }])).toBe('[{"b":{"10":0,"9":1}}]');
});
