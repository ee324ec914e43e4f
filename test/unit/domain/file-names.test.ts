import { expect, test } from 'vitest';
import { toSafeFileName } from '../../../packages/core/src/domain/attachments/file-names.ts';

test.each([
  ['report.pdf', 'report.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['..\\..\\windows\\system.ini', 'system.ini'],
  ['/absolute/name.txt', 'name.txt'],
  ['..', 'file'],
  ['', 'file'],
  ['a/', 'file'],
  ['...hidden', 'hidden'],
  ['trailing. . ', 'trailing'],
  ['line\r\nbreak\u0000.txt', 'linebreak.txt'],
  ['\u202Egnp.exe', 'gnp.exe'],
  ['a\u2066b\u2069\u200F\uFEFF.txt', 'ab.txt'],
  ['half \ud800 pair', 'half pair'],
  ['a\u2028b', 'ab'],
  ['cafe\u0301.txt', 'caf\u00e9.txt'],
  ['q?u*e<s>t|i:o"n', 'q_u_e_s_t_i_o_n'],
  ['CON.txt', '_CON.txt'],
  ['-rf', '_rf'],
  ['報告書 💬.md', '報告書 💬.md'],
])('%j becomes %j', (given, safe) => {
  expect(toSafeFileName(given)).toBe(safe);
});

test('long names are shortened in the middle and keep their extension', () => {
  for (const [character, least] of [
    ['x', 180],
    ['é', 131],
    ['書', 90],
    ['💬', 130],
    ['a\u0301', 120],
  ] as const) {
    const name = toSafeFileName(`${character.repeat(500)}.markdown`);
    expect(name.endsWith('.markdown')).toBe(true);
    expect(name.isWellFormed()).toBe(true);
    expect(name.length).toBeGreaterThanOrEqual(least);
    expect(name.length).toBeLessThanOrEqual(180);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  }
  expect(toSafeFileName(`a.${'b'.repeat(500)}`)).toHaveLength(180);
});

test('a safe name is unchanged', () => {
  for (const name of ['a b.txt', '_CON', 'x'.repeat(180)])
    expect(toSafeFileName(toSafeFileName(name))).toBe(name);
});
