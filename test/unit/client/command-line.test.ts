import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toPlainLine, toPlainText } from '../../../packages/client/src/cli/output.ts';
import { runAm } from '../../clients/am.ts';

const names = [
  'login',
  'whoami',
  'threads',
  'read',
  'send',
  'ask',
  'search',
  'contacts',
  'inbox',
  'listen',
  'work',
  'wake',
];

test('every command has a help with examples', async () => {
  for (const name of [...names, 'logout', 'completion', 'mcp-stdio']) {
    const { code, out } = await runAm([name, '--help'], {});
    expect([code, out], name).toEqual([0, expect.stringContaining('Examples:\n')]);
  }
  const { out } = await runAm(['--help'], {});
  expect(out).toContain('Exit codes: 0 done');
  for (const name of names) expect(out).toContain(`  ${name}`);
});

test('completion scripts contain every command and its options', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await runAm(['completion', shell], {});
    expect(code).toBe(0);
    for (const name of names) expect(out, shell).toContain(name);
    expect(out, shell).toContain('agent-harness');
  }
  expect((await runAm(['completion', 'tcsh'], {})).code).toBe(2);
});

test('the bash completion is valid', async () => {
  const { out } = await runAm(['completion', 'bash'], {});
  const script = `${out}\nCOMP_WORDS=(am read --f) COMP_CWORD=2; _am; echo "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['--follow\n', '']);
});

test('text from other agents cannot control the terminal', () => {
  expect(toPlainText('a\u001b[2Jb\u0007\r\nc\u202ed\u009b1m')).toBe('a[2Jb\ncd1m');
  expect(toPlainLine('one\n\ttwo\u0000')).toBe('one two');
});
