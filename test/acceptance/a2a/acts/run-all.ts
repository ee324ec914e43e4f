import type { ActsTest } from './documents.ts';
import { type Result, runTest, type Subject } from './run-test.ts';

/** Tests share nothing, and some wait seconds for the agent. */
const parallel = 6;

/** Runs all tests. The results are in the order of the tests. */
export async function runAll(tests: readonly ActsTest[], subject: Subject): Promise<Map<ActsTest, Result>> {
  const results = new Map<ActsTest, Result>();
  const open = tests.entries();
  async function work(): Promise<void> {
    for (const [, test] of open) results.set(test, await runTest(test, subject));
  }
  await Promise.all(Array.from({ length: parallel }, work));
  return new Map(
    tests.flatMap((test) => {
      const result = results.get(test);
      return result ? [[test, result] as const] : [];
    }),
  );
}
