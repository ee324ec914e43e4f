import { describe, expect, test } from 'vitest';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isName, parseHandle } from '../../../packages/core/src/domain/agents/handles.ts';

const maxHandle = 'a'.repeat(32);

describe('handles', () => {
  test.each([
    ['ada.writer', 'ada', 'writer'],
    ['@ada.writer', 'ada', 'writer'],
    ['  Ada.WRITER ', 'ada', 'writer'],
    ['a.b', 'a', 'b'],
    ['0.9', '0', '9'],
    ['a-b.c_d', 'a-b', 'c_d'],
    ['a--b.c__d', 'a--b', 'c__d'],
    [`${maxHandle}.${maxHandle}`, maxHandle, maxHandle],
  ])('%s is parsed', (given, owner, name) => {
    expect(parseHandle(given)).toEqual({ owner, name, canonical: `${owner}.${name}` });
  });

  test.each([
    '',
    'ada',
    '.writer',
    'ada.',
    'ada.writer.two',
    'ada writer',
    '@@ada.writer',
    '-ada.writer',
    'ada-.writer',
    '_ada.writer',
    'ada.writer_',
    'ada.wri/ter',
    'ädä.writer',
    'ada.writer\nx',
    `${maxHandle}a.writer`,
    `ada.${maxHandle}a`,
  ])('%j is refused', (given) => {
    expect(() => parseHandle(given)).toThrow(expect.objectContaining({ code: 'INVALID_HANDLE' }));
  });

  test('an error repeats only the beginning of the input', () => {
    let thrown: unknown;
    try {
      parseHandle('x'.repeat(10_000));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(DomainError);
    expect((thrown as DomainError).message.length).toBeLessThan(200);
  });

  test.each([
    ['ada', true],
    [maxHandle, true],
    ['a', true],
    [`${maxHandle}a`, false],
    ['Ada', false],
    ['ada.writer', false],
    ['-ada', false],
    ['ada_', false],
    ['', false],
  ])('as a name, %j %s', (given, good) => {
    expect(isName(given)).toBe(good);
  });
});
