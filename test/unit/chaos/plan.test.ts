import { expect, test } from 'vitest';
import { readOptions } from '../../../chaos/options.ts';
import { type FaultKind, faultKinds, planFaults, type Step } from '../../../chaos/faults/plan.ts';
import { seededRandom } from '../../../chaos/random.ts';
import { maxRecoveryTime } from '../../../chaos/recovery-time.ts';
import { createValidHistory } from './valid-history.ts';

function first(seed: number, faults: number, redis = true): Step[] {
  const steps: Step[] = [];
  for (const step of planFaults(seededRandom(seed), { redis, calmMs: 1_000 })) {
    if (steps.flatMap((each) => each.faults).length >= faults) return steps;
    steps.push(step);
  }
  return steps;
}

const kindsOf = (steps: readonly Step[]): FaultKind[] =>
  steps.flatMap(({ faults }) => faults.map(({ kind }) => kind));

test('the seed determines the order of the faults', () => {
  expect(first(7, 50)).toEqual(first(7, 50));
  const orders = Array.from({ length: 20 }, (_, seed) => kindsOf(first(seed, 10)).join());
  expect(new Set(orders).size).toBe(20);
});

test('every round has each kind of fault once', () => {
  const all = Object.keys(faultKinds).toSorted();
  for (let seed = 0; seed < 20; seed += 1) expect(kindsOf(first(seed, all.length)).toSorted()).toEqual(all);
});

test('without Redis no fault is planned for it', () => {
  expect(kindsOf(first(3, 40, false)).filter((kind) => kind.startsWith('Redis'))).toEqual([]);
});

test('the recovery time is from the end of a fault to the last reader', () => {
  const history = createValidHistory();
  const fault = { kind: 'API killed', begun_at: 900, ended_at: 1_005 };
  expect(maxRecoveryTime(history, [fault])).toEqual({ after: 'API killed', maxMs: 15 });
  // A request that began after the fault does not count.
  expect(maxRecoveryTime(history, [{ ...fault, ended_at: 999 }])?.maxMs).toBe(0);
  const [send] = history.sends;
  if (send) send.acknowledged_at = 4_005;
  expect(maxRecoveryTime(history, [fault, { ...fault, kind: 'sockets cut', ended_at: 2_000 }])).toEqual({
    after: 'API killed',
    maxMs: 3_000,
  });
});

test('an invalid option is named in the error', () => {
  expect(readOptions(['--seconds', '9', '--seed', '0'])).toMatchObject({ seconds: 9, seed: 0 });
  for (const value of ['0', '121', '1.5', 'x', '']) {
    expect(() => readOptions([`--seconds=${value}`])).toThrow(/^--seconds: must be a whole number/);
  }
  expect(() => readOptions(['--seed=-1'])).toThrow(/^--seed: must be a whole number/);
});
