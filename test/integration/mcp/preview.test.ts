import { expect, test } from 'vitest';
import { preview } from '../../../src/transports/mcp/tools/preview.ts';

const long = 'a'.repeat(100_000);
const isAtMost = (bytes: number) => (text: string) => Buffer.byteLength(text) <= bytes;
const message = { thread_id: 'thd_1', sequence: 7 };
const read_the_rest =
  'get_thread with {"thread_id":"thd_1","message_limit":1,"before_sequence":8} returns the first cut text whole. For another message, pass its thread_id, and its sequence plus 1 as before_sequence.';

test('cuts what is long and leaves what is short', () => {
  const answer = {
    items: [
      { ...message, text: long },
      { ...message, sequence: 8, text: 'short' },
    ],
    next_cursor: 'c'.repeat(500),
  };
  const { value, text } = preview(answer, isAtMost(10_000));
  expect(JSON.parse(text)).toEqual(value);
  expect(value).toEqual({
    items: [
      { ...message, text: `${'a'.repeat(8_192)}…`, truncated: true },
      { ...message, sequence: 8, text: 'short' },
    ],
    next_cursor: answer.next_cursor,
    truncated: true,
    read_the_rest,
  });
});

test('marks the object that held a cut text, through lists and not further up', () => {
  const { value } = preview({ a: { ...message, b: { texts: [long] }, c: { n: 1 } } }, isAtMost(3_000));
  expect(value['a']).toEqual({
    ...message,
    b: { texts: [`${'a'.repeat(2_048)}…`], truncated: true },
    c: { n: 1 },
  });
});

test('names the call for the first cut record; fields of metadata name none', () => {
  const thread = { id: 'thd_2', metadata: { text: long, thread_id: 'thd_other', sequence: 1 } };
  const cut = preview({ threads: [{ id: 'thd_1', metadata: {} }, thread] }, isAtMost(10_000));
  expect(cut.value['read_the_rest']).toBe(
    'get_thread with {"thread_id":"thd_2","message_limit":1} returns the first cut text whole. For another thread, pass its id.',
  );
});

test('leaves a text whole that no other call returns', () => {
  const card = { handle: 'a.b', card: long };
  expect(preview(card, isAtMost(10_000))).toEqual({ value: card, text: JSON.stringify(card) });
});

test('never cuts a character in two', () => {
  const { value } = preview({ ...message, text: `${'a'.repeat(2_047)}😀${long}` }, isAtMost(3_000));
  expect(value['text']).toBe(`${'a'.repeat(2_047)}…`);
});

test('gives the tightest attempt when nothing helps, and leaves names alone that mean something to JavaScript', () => {
  const answer: Record<string, unknown> = JSON.parse(
    `{"__proto__": {"text": "${long}"}, "n": [1, null, true], "thread_id": "thd_1", "sequence": 7}`,
  );
  const { text } = preview(answer, isAtMost(10));
  expect(JSON.parse(text)).toEqual(
    JSON.parse(
      `{"__proto__": {"text": "${'a'.repeat(2_048)}…", "truncated": true}, "n": [1, null, true], "thread_id": "thd_1", "sequence": 7, "truncated": true, "read_the_rest": ${JSON.stringify(read_the_rest)}}`,
    ),
  );
});
