import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import everyChange from '../../vitest.config.ts';

const root = resolve(import.meta.dirname, '../..');

/** The files that every change runs in part: they ask which run this is. */
const inPart = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((name) => join('test', name))
  .filter((path) => path.endsWith('.test.ts'))
  .filter((path) => readFileSync(join(root, path), 'utf8').includes("/support/extent.ts'"));

/**
 * The suites that are too long for every change, and the full versions of those that every change runs in part. One file at a
 * time: each starts many processes.
 */
export default defineConfig({
  resolve: everyChange.resolve ?? {},
  test: {
    ...everyChange.test,
    include: ['test/nightly/**/*.test.ts', ...inPart],
    env: { TEST_EXTENT: 'nightly' },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    exclude: [],
    sequence: {},
    maxWorkers: 1,
  },
});
