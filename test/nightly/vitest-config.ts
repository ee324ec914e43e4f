import { defineConfig } from 'vitest/config';
import everyChange from '../../vitest.config.ts';

/** As the tests of every change, but for the files, and one at a time: each starts many processes. */
export default defineConfig({
  test: {
    ...everyChange.test,
    include: ['test/nightly/**/*.test.ts'],
    exclude: [],
    sequence: {},
    maxWorkers: 1,
  },
});
