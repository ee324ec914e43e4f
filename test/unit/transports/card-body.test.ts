import MarkdownIt from 'markdown-it';
import { afterEach, expect, test, vi } from 'vitest';
import { renderCardBody } from '../../../src/transports/http/render-card-body.ts';

afterEach(() => void vi.restoreAllMocks());

test('a card that would grow to many times its text is shown as it is written', () => {
  const table = `|${'a|'.repeat(50)}\n|${'-|'.repeat(50)}\n${'<\n'.repeat(16_000)}`;
  const html = renderCardBody(table);
  expect(html).toBe(`<pre>${table.replaceAll('<', '&lt;')}</pre>`);
  expect(renderCardBody('|a|b|\n|-|-|\n|1|2|')).toContain('<td>2</td>');
});

test.each(['![', '**a', '[', '# a\n', '- a\n  '])(
  'a card of nothing but %j is shown as it is written',
  (unit) => {
    expect(renderCardBody(unit.repeat(Math.floor(32_000 / unit.length)))).toMatch(/^<pre>/);
  },
);

test('a card is rendered once, however often it is asked for, and only so many are remembered', () => {
  const parse = vi.spyOn(MarkdownIt.prototype, 'parse');
  const first = renderCardBody('# One');
  expect([renderCardBody('# One'), first]).toEqual([first, '<h1>One</h1>\n']);
  expect(parse).toHaveBeenCalledTimes(1);
  for (let other = 0; other < 63; other += 1) renderCardBody(`# Other ${other}`);
  renderCardBody('# One');
  expect(parse).toHaveBeenCalledTimes(64);
  for (let other = 63; other < 127; other += 1) renderCardBody(`# Other ${other}`);
  renderCardBody('# One');
  expect(parse).toHaveBeenCalledTimes(129);
});
