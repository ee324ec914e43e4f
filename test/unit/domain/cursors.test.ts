import { describe, expect, test } from 'vitest';
import { createCursors } from '../../../src/work/cursors.ts';

const cursors = createCursors(['a secret of thirty-two characters']);
const invalid = expect.objectContaining({ code: 'INVALID_CURSOR' });

describe('cursors of lists', () => {
  test.each([[[]], [[1]], [[1_795_229_166_812, 'thd_01']], [[null, 'ä.b', 0]]])(
    'are decoded as they were encoded: %j',
    (position) => {
      expect(cursors.decode('list', cursors.encode('list', position))).toEqual(position);
    },
  );

  test('need no escaping in a URL', () => {
    const cursor = cursors.encode('list', ['???>>>', 255]);
    expect(encodeURIComponent(cursor)).toBe(cursor);
  });

  test('are rejected by another list', () => {
    expect(() => cursors.decode('other', cursors.encode('list', [1]))).toThrow(invalid);
  });

  test('are rejected with another secret, and accepted by a process with the same one', () => {
    const cursor = cursors.encode('list', [7]);
    expect(createCursors(['a secret of thirty-two characters']).decode('list', cursor)).toEqual([7]);
    expect(() => createCursors(['another secret of 32 characters.']).decode('list', cursor)).toThrow(invalid);
  });

  const good = cursors.encode('list', [41]);
  const [payload = '', mac = ''] = good.split('.');
  test.each([
    ['nothing', ''],
    ['a word', 'cursor'],
    ['no signature', payload],
    ['an empty signature', `${payload}.`],
    ['an empty payload', `.${mac}`],
    ['three parts', `${good}.x`],
    ['a shorter signature', good.slice(0, -4)],
    ['an extra character', `${good}A`],
    ['a character that decoding passes over', `${payload}*.${mac}`],
    ['another payload', `${Buffer.from('[42]').toString('base64url')}.${mac}`],
    ['another signature', `${payload}.${Buffer.alloc(12).toString('base64url')}`],
  ])('are rejected: %s', (_what, cursor) => {
    expect(() => cursors.decode('list', cursor)).toThrow(invalid);
  });
});

describe('cursors of a feed', () => {
  test.each([0, 1, 41, 2 ** 40])('are decoded as they were encoded: %d', (number) => {
    expect(cursors.decodeFeed('agt_1', cursors.encodeFeed('agt_1', number))).toBe(number);
  });

  test('are rejected for another agent', () => {
    expect(() => cursors.decodeFeed('agt_2', cursors.encodeFeed('agt_1', 5))).toThrow(invalid);
  });

  test('and cursors of a list are not interchangeable', () => {
    expect(() => cursors.decode('agt_1', cursors.encodeFeed('agt_1', 5))).toThrow(invalid);
    expect(() => cursors.decodeFeed('agt_1', cursors.encode('agt_1', [5]))).toThrow(invalid);
  });
});
