import { expect, test } from 'vitest';
import { coerceArguments } from '../../../src/transports/mcp/tools/coerce-arguments.ts';
import { readReference } from '../../../src/transports/mcp/tools/references.ts';

const id = 'thd_01K9ZX6Q8T1V5X7Y9Z1B3D4E5F';

test.each([`"${id}"`, ` \`${id.toLowerCase()}\` `, `service://threads/${id}`, `“${id}”`, `\\"${id}\\"`])(
  'the id in %s is read',
  (text) => {
    expect(readReference(text)).toBe(id);
  },
);

// With a pattern for the end of the text, the first one would take hours.
test('quotes without an end and long lists are returned as they are', () => {
  const quotes = `x${'"'.repeat(2_000_000)}x`;
  expect(readReference(quotes)).toBe(quotes);
  const list = 'a,'.repeat(1_000_000);
  const schema = { properties: { participants: { type: 'array', items: { type: 'string' } } } };
  expect(coerceArguments({ participants: list }, schema)).toEqual({ participants: [list] });
});
