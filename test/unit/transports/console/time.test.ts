import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import {
  type LayoutContext,
  LayoutContextProvider,
} from '../../../../src/transports/console/components/layout-context.ts';
import { Time } from '../../../../src/transports/console/components/rows.tsx';

const now = Date.UTC(2026, 10, 21, 12);
const minute = 60_000;

function render(at: number, timeZone?: string): string {
  const value = { timeZone } as LayoutContext;
  return renderToString(h(LayoutContextProvider, { value }, h(Time, { at, now })));
}

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
  const html = render(at);
  expect(html).toContain(`>${words}</relative-time>`);
  expect(html).toContain(`datetime="${new Date(at).toISOString()}"`);
});

test('a date is written in the zone of the reader', () => {
  const at = Date.UTC(2026, 9, 20, 23, 30);
  expect(render(at, 'Europe/Berlin')).toContain('>21 Oct 2026, 01:30</relative-time>');
  expect(render(now - minute, 'America/New_York')).toContain('title="21 Nov 2026, 06:59"');
});
