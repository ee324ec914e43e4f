import { expect, test } from 'vitest';
import { preview } from '../../../src/transports/mcp/tools/preview.ts';

const long = 'a'.repeat(100_000);

test('cuts what is long and leaves what is short', () => {
  const answer = {
    items: [
      { id: 'x', text: long },
      { id: 'y', text: 'short' },
    ],
    next_cursor: 'c'.repeat(500),
  };
  const { value, text } = preview(answer, 10_000, 'so');
  expect(JSON.parse(text)).toEqual(value);
  expect(value).toEqual({
    items: [
      { id: 'x', text: `${'a'.repeat(8_192)}…`, truncated: true },
      { id: 'y', text: 'short' },
    ],
    next_cursor: answer.next_cursor,
    truncated: true,
    read_the_rest: 'so',
  });
});

test('marks the object that held a cut text, through lists and not further up', () => {
  const { value } = preview({ a: { b: { texts: [long] }, c: { n: 1 } } }, 3_000, 'so');
  expect(value['a']).toEqual({ b: { texts: [`${'a'.repeat(2_048)}…`], truncated: true }, c: { n: 1 } });
});

test('never cuts a character in two', () => {
  const { value } = preview({ text: `${'a'.repeat(2_047)}😀${long}` }, 3_000, 'so');
  expect(value['text']).toBe(`${'a'.repeat(2_047)}…`);
});

test('gives the tightest attempt when nothing helps, and leaves names alone that mean something to JavaScript', () => {
  const answer: Record<string, unknown> = JSON.parse(
    `{"__proto__": {"text": "${long}"}, "n": [1, null, true]}`,
  );
  const { text } = preview(answer, 10, 'so');
  expect(JSON.parse(text)).toEqual(
    JSON.parse(
      `{"__proto__": {"text": "${'a'.repeat(2_048)}…", "truncated": true}, "n": [1, null, true], "truncated": true, "read_the_rest": "so"}`,
    ),
  );
});
