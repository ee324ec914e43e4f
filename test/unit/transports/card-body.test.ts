import MarkdownIt from 'markdown-it';
import { afterEach, expect, test, vi } from 'vitest';
import { renderCardBody } from '../../../src/transports/http/render-card-body.ts';

afterEach(() => void vi.restoreAllMocks());

test('a card whose rendering is many times as long as its text is shown as text', () => {
  const table = `|${'a|'.repeat(50)}\n|${'-|'.repeat(50)}\n${'<\n'.repeat(16_000)}`;
  const html = renderCardBody(table);
  expect(html).toBe(`<pre>${table.replaceAll('<', '&lt;')}</pre>`);
  expect(renderCardBody('|a|b|\n|-|-|\n|1|2|')).toContain('<td>2</td>');
});

test('columns of a table are aligned without styles of elements', () => {
  expect(renderCardBody('|a|b|c|d|\n|-|:-|:-:|-:|\n|1|2|3|4|').match(/<t[hd]\b.*/g)).toEqual([
    '<th>a</th>',
    '<th class="to-left">b</th>',
    '<th class="to-center">c</th>',
    '<th class="to-right">d</th>',
    '<td>1</td>',
    '<td class="to-left">2</td>',
    '<td class="to-center">3</td>',
    '<td class="to-right">4</td>',
  ]);
});

test.each(['![', '**a', '[', '# a\n', '- a\n  '])('a card that only repeats %j is shown as text', (unit) => {
  expect(renderCardBody(unit.repeat(Math.floor(32_000 / unit.length)))).toMatch(/^<pre>/);
});

test('a card is rendered once for many requests, and the cache has a maximum size', () => {
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
