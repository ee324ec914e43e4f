import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSearch } from '../../../packages/core/src/domain/search/query.ts';
import { createSnippet } from '../../../packages/core/src/domain/search/snippets.ts';
import { tokenize } from '../../../packages/core/src/domain/search/tokenizer.ts';

const snippet = (content: string, query: string) => createSnippet(content, parseSearch(query, 'q'));
const filler = (words: number) => Array.from({ length: words }, (_, index) => `lorem${index}`).join(' ');

describe('a snippet', () => {
  test.each([
    ['marks hits as they are written', 'A Crème brûlée.', 'creme BRULEE', 'A **Crème** **brûlée**.'],
    ['collapses white space', ' one\n\n two\t three ', 'two', 'one **two** three'],
    ['marks overlapping pairs as one', '新東京都庁へ', '東京都', '新**東京都**庁へ'],
    ['marks one character alone', '東京都', '京', '東**京**都'],
    ['marks no exclusion', 'blue sea', 'blue -whale', '**blue** sea'],
    ['leaves stars of the message alone', '**bold** word', 'word', '**bold** **word**'],
    ['holds a short message whole', 'word', 'word', '**word**'],
  ])('%s', (_what, content, query, expected) => {
    expect(snippet(content, query)).toBe(expected);
  });

  test('marks omissions, and cuts no word', () => {
    const middle = snippet(`${filler(60)} whale ${filler(60)}`, 'whale');
    expect(middle).toMatch(/^…lorem\d+ .*\*\*whale\*\*.* lorem\d+…$/);
    expect(middle.length).toBeGreaterThan(120);
    expect(middle.length).toBeLessThanOrEqual(160 + 6);
    expect(snippet(`whale ${filler(60)}`, 'whale')).toMatch(/^\*\*whale\*\* .*lorem\d+…$/);
    expect(snippet(`${filler(60)} whale`, 'whale')).toMatch(/^…lorem\d+ .* \*\*whale\*\*$/);
  });

  test('shows the earliest part with the most terms of the query', () => {
    const content = `sea ${filler(50)} whale sea one ${filler(50)} whale sea two`;
    expect(snippet(content, 'whale sea')).toContain('**whale** **sea** one');
    expect(snippet(`sea ${filler(50)} sea sea`, 'sea')).toContain('**sea** **sea**');
  });

  test('cuts a hit that is longer than the snippet', () => {
    const cut = snippet(`${'x'.repeat(30_000)} end`, 'x'.repeat(100));
    expect(cut).toBe(`**${'x'.repeat(160)}**…`);
  });

  test('never splits a character', () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const content = `${'y'.repeat(shift)}${'🎉'.repeat(500)}whale${'🎉'.repeat(500)}`;
      const cut = snippet(content, 'whale');
      expect(cut.isWellFormed()).toBe(true);
      expect(cut).toContain('**whale**');
    }
  });

  test('is fast for a message that contains only hits', () => {
    const content = 'a '.repeat(16_000);
    expect(snippet(content, 'a "a a" a* "a a a a a"')).toMatch(/^(\*\*a\*\* )+\*\*a\*\*…$/);
  });

  test('finds the best part among hits that are close together', () => {
    const content = `a b ${'a '.repeat(300)}${filler(40)} b a c`;
    expect(snippet(content, 'a b c')).toMatch(/ \*\*b\*\* \*\*a\*\* \*\*c\*\*$/);
    expect(snippet(content, 'a b')).toMatch(/^\*\*a\*\* \*\*b\*\* \*\*a\*\* /);
  });

  test.each([
    ['marks in the wrong order', '\u0301\u0323\u0334\u0345'],
    ['one character with such marks', '中\u0301\u0323'.padEnd(600, '\u0301\u0323')],
    ['a run without spaces', 'x'],
    ['spaces', ' '],
    ['underscores', 'a_'],
    ['Chinese', '中文'],
  ])('takes CPU time proportional to the length of the text: %s', (_what, unit) => {
    // 16 times the longest message. Work that grows with the square takes minutes; linear work takes less than a second.
    const content = unit.repeat(Math.ceil(524_288 / unit.length));
    const begun = process.cpuUsage();
    snippet(content, 'whale 中文 "a a a a" x*');
    expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(10_000);
  });

  test('of any message for any of its words is a part of the message with that word', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 600 }).filter((value) => !value.includes('*'));
    fc.assert(
      fc.property(text, fc.nat(), (content, pick) => {
        const words = tokenize(content);
        const word = words[pick % Math.max(words.length, 1)];
        if (!word) return;
        const made = snippet(content, content.slice(word.start, word.end));
        const bare = made.replaceAll('**', '').replace(/^…/, '').replace(/…$/, '');
        expect(content.replaceAll(/\s+/gu, ' ')).toContain(bare);
        expect(made).toContain('**');
        expect(bare.length).toBeLessThanOrEqual(160);
      }),
      { numRuns: 1_000 },
    );
  });
});
