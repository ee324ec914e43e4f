import { expect, test } from 'vitest';
import { parseByteRange } from '../../../src/transports/rest/blobs.ts';

test.each([
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=10-', { start: 10, end: 99 }],
  ['bytes=10-1000', { start: 10, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-1000', { start: 0, end: 99 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=99999999999999-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', null],
  ['bytes=0-1,2-3', null],
  [`bytes=${'0-,'.repeat(1_000)}0-`, null],
  ['bytes=-', null],
  ['bytes=a-b', null],
  ['bytes=99999999999999999999-', null],
  ['lines=0-1', null],
  ['', null],
])('the range %j of 100 bytes', (header, range) => {
  expect(parseByteRange(header, 100)).toEqual(range);
});
