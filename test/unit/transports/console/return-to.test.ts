import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeReturnPath } from '../../../../src/transports/console/route.ts';

const anyAddress = fc.oneof(
  fc.string(),
  fc.webUrl(),
  fc
    .array(
      fc.constantFrom('/', '\\', '.', '..', 'console', '@', ':', '?', '#', '%2f', '\t', '\n', 'evil.example'),
      {
        maxLength: 8,
      },
    )
    .map((parts) => parts.join('')),
);

test('a redirect always leads to a page of the console or a pending request', () => {
  fc.assert(
    fc.property(anyAddress, (given) => {
      const there = new URL(safeReturnPath(given), 'https://ams.example');
      expect(there.origin).toBe('https://ams.example');
      expect(there.pathname).toMatch(/^\/console(?:\/|$)|^\/authorize\/requests\/[\w-]+$/);
    }),
  );
});

test('pages of the console keep their query', () => {
  expect(safeReturnPath('/console/agents?after=a%20b#x')).toBe('/console/agents?after=a%20b');
});
