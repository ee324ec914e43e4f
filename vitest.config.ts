import { configDefaults, defineConfig } from 'vitest/config';
import { SlowFilesFirst } from './test/support/vitest/slow-files-first.ts';

const root = import.meta.dirname;

export default defineConfig({
  // The adapter imports the library as its users do; tests need no build.
  resolve: {
    alias: [{ find: /^@agent-messaging\/client$/, replacement: `${root}/packages/client/src/main.ts` }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Several processes on engines that fail over take minutes: npm run test:nightly.
    exclude: [...configDefaults.exclude, 'test/nightly/**'],
    globalSetup: ['test/support/vitest/global-setup.ts'],
    setupFiles: ['test/support/vitest/worker-setup.ts'],
    // Tests wait for conditions, so the limits only end what hangs. They are long enough for whole processes and browsers on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
    pool: 'forks',
    // Nothing happens on import, so files can share the modules of their worker: loading them anew for each file is a third of the time.
    isolate: false,
    sequence: { sequencer: SlowFilesFirst },
    // Six workers take as long and 18 % more CPU. A project of its own for the tests without servers takes 3 % more of both (2 cores, Node 24).
    maxWorkers: 4,
  },
});
