import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const program = `
  import { createLogger } from './src/platform/observability/logger.ts';
  const logger = createLogger({ level: 'info', part: 'test' });
  const cause = Object.assign(new Error('row'), { code: '23505', detail: 'Key (content)=(secret words)' });
  const error = Object.assign(new Error('parse', { cause }), { code: 'HPE_X', rawPacket: Buffer.from('Bearer secret') });
  logger.error({ err: error, token: 'secret' }, 'failed');
`;

test('an error is logged without the bytes or rows that caused it', () => {
  const { stderr, stdout } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', program],
    {
      encoding: 'utf8',
    },
  );
  const line = stderr.split('\n').find((text) => text.startsWith('{')) ?? '';
  expect(JSON.parse(line)).toMatchObject({
    level: 50,
    part: 'test',
    token: '[Redacted]',
    err: { type: 'Error', message: 'parse', code: 'HPE_X', cause: { message: 'row', code: '23505' } },
  });
  expect(line).not.toMatch(/secret|rawPacket|detail|66,101,97/);
  expect(stdout).toBe('');
});
