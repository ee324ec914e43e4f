import { expect, test } from 'vitest';
import { cachePerObject } from '../../../src/shared/cache-per-object.ts';

test('a value is built once for each object, also if it is undefined', () => {
  const built: object[] = [];
  const read = cachePerObject((key: { name?: string }) => {
    built.push(key);
    return key.name;
  });
  const [named, nameless] = [{ name: 'one' }, {}];
  expect([read(named), read(nameless), read(named), read(nameless)]).toEqual([
    'one',
    undefined,
    'one',
    undefined,
  ]);
  expect(read({ name: 'one' })).toBe('one');
  expect(built).toEqual([named, nameless, { name: 'one' }]);
});
