import { expect, test } from 'vitest';
import { keepDifference, restoreAnswer } from '../../../packages/core/src/domain/kept-answers.ts';
import { withdrawInAnswer } from '../../../packages/core/src/domain/withdrawals.ts';

const usualOutput = { id: '', content: 'long text', files: [], reply_to: null };

test.each([
  ['the usual one', { ...usualOutput, id: 'msg_1' }, '~{"id":"msg_1"}'],
  [
    'other values',
    { ...usualOutput, content: '', files: [{ 2: 'b', 1: 'a' }] },
    '~{"content":"","files":[{"1":"a","2":"b"}]}',
  ],
  ['further fields', { ...usualOutput, replaces: 'msg_0' }, '~{"replaces":"msg_0"}'],
])('an answer is restored byte for byte: %s', (_, output, kept) => {
  expect(keepDifference(output, usualOutput)).toBe(kept);
  expect(restoreAnswer(kept, () => usualOutput)).toBe(JSON.stringify(output));
});

test.each([
  ['a missing field', { id: '', content: 'long text', files: [] }],
  ['another order', { content: 'long text', id: '', files: [], reply_to: null }],
  ['a field without a value', { ...usualOutput, reply_to: undefined }],
])('an answer is stored as a whole where its difference does not suffice: %s', (_, output) => {
  expect(keepDifference(output, usualOutput)).toBeUndefined();
});

test('an answer that was stored as a whole stays as it is', () => {
  expect(restoreAnswer('{"a": 1}', () => usualOutput)).toBe('{"a": 1}');
});

test('the withdrawal of a message changes the answer about it only', () => {
  const kept = '~{"id":"msg_1","metadata":{"id":"msg_2"}}';
  expect(withdrawInAnswer(kept, 'msg_2', 5)).toBe(kept);
  expect(JSON.parse(restoreAnswer(withdrawInAnswer(kept, 'msg_1', 5), () => usualOutput))).toMatchObject({
    id: 'msg_1',
    content: '',
    metadata: {},
    withdrawn_at: 5,
  });
});
