import { describe, test } from 'vitest';

/**
 * A suite that needs something which a machine may lack. Without it the suite is reported as
 * skipped, never as passed.
 */
export function describeUnless(missing: string | undefined, name: string, body: () => void): void {
  if (missing === undefined) {
    describe(name, body);
    return;
  }
  process.stderr.write(`\nSKIPPED: ${name}: ${missing}\n`);
  describe(name, () => {
    test.skip(`SKIPPED: ${missing}`, () => undefined);
  });
}
