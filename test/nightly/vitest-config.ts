import { defineConfig } from 'vitest/config';
import everyChange from '../../vitest.config.ts';

/**
 * The suites that are too long for every change, and the full versions of those that every change runs in part. One file at a
 * time: each starts many processes.
 */
export default defineConfig({
  resolve: everyChange.resolve ?? {},
  test: {
    ...everyChange.test,
    include: [
      'test/nightly/**/*.test.ts',
      'test/acceptance/mcp/{approval,tool}-story.test.ts',
      'test/acceptance/oauth/{conformance,redirects,sdk-client}.test.ts',
      'test/acceptance/pages/{browser-notifications,copy,docs,live-pages,menu}.test.ts',
      'test/integration/client/examples.test.ts',
      'test/integration/docs/code-blocks.test.ts',
      'test/integration/embedded/launcher.test.ts',
      'test/integration/rest/access/policy-matrix.test.ts',
      'test/integration/rest/fuzz/fuzz.test.ts',
      'test/integration/workers/{attachment-scanning,graceful-stop,two-processes}.test.ts',
    ],
    env: { TEST_EXTENT: 'nightly' },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    exclude: [],
    sequence: {},
    maxWorkers: 1,
  },
});
