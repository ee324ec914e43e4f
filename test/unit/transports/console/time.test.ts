import { renderToString } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { Time } from '../../../../src/transports/console/components/time.tsx';

const now = Date.UTC(2026, 10, 21, 12);
const minute = 60_000;

test.each([
  [now, 'just now'],
  [now - 59_000, 'just now'],
  [now + 59_000, 'in less than a minute'],
  [now - minute, '1 minute ago'],
  [now + 90 * minute, 'in 1 hour'],
  [now - 23 * 60 * minute, '23 hours ago'],
  [now - 36 * 60 * minute, 'yesterday'],
  [now - 29 * 1_440 * minute, '29 days ago'],
  [now - 31 * 1_440 * minute, '21 Oct 2026, 12:00 UTC'],
])('%i is written as %s', (at, words) => {
  const html = renderToString(Time({ at, now }));
  expect(html).toContain(`>${words}</time>`);
  expect(html).toContain(`datetime="${new Date(at).toISOString()}"`);
});
