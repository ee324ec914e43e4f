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
      'test/acceptance/pages/accessibility.test.ts',
      'test/integration/inbox/shared-work.test.ts',
      'test/integration/rest/access/policy-matrix.test.ts',
      'test/integration/rest/fuzz/fuzz.test.ts',
      'test/integration/workers/{api-kill,attachment-scanning,graceful-stop,postgres-loss,redis-loss,two-processes,worker-kill}.test.ts',
    ],
    env: { TEST_EXTENT: 'nightly' },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    exclude: [],
    sequence: {},
    maxWorkers: 1,
  },
});
