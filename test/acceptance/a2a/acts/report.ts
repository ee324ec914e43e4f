import type { ActsTest } from './documents.ts';
import { exclusions } from './exclusions.ts';
import type { Result } from './run-test.ts';
import type { Binding } from './wire.ts';

export interface Report {
  /** Tests that fail, and exclusions that pass, one line each. */
  faults: string[];
  /** One line with all counts. */
  counts: string;
}

/** Compares results with the exclusions. `used` gets the exclusions that were needed. */
export function report(binding: Binding, results: ReadonlyMap<ActsTest, Result>, used: Set<string>): Report {
  const counts: Record<string, number> = { passed: 0, failed: 0, excluded: 0 };
  const faults: string[] = [];
  for (const [{ id, level }, result] of results) {
    const exclusion = exclusions[id];
    const isExcluded = exclusion !== undefined && (exclusion.bindings ?? [binding]).includes(binding);
    const outcome = result.outcome === 'failed' && isExcluded ? 'excluded' : result.outcome;
    if (outcome === 'excluded') used.add(id);
    const name = result.outcome === 'not applicable' ? `not applicable because ${result.reason}` : outcome;
    counts[name] = (counts[name] ?? 0) + 1;
    if (outcome === 'failed' && result.outcome === 'failed')
      faults.push(`${id} (${level}) fails over ${binding}: ${result.reason}`);
    if (outcome === 'passed' && isExcluded) faults.push(`${id} passes over ${binding}, but is excluded`);
  }
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return { faults, counts: `ACTS over ${binding}: of ${results.size} tests ${parts.join(', ')}` };
}

/** The exclusions that nothing needs. */
export const findUnused = (used: ReadonlySet<string>): string[] =>
  Object.keys(exclusions).filter((id) => !used.has(id));
