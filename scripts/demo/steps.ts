import { performance } from 'node:perf_hooks';

export interface StepResult {
  step: string;
  ok: boolean;
  /** Milliseconds: of the whole step, or of what it says it measured. */
  ms: number;
  /** What was seen, as one line. */
  seen?: string;
  /** Only of a step that failed. */
  expected?: string;
  failure?: string;
}

export interface StepOutcome<T> {
  value: T;
  seen: string;
  /** Where the step measured something narrower than its own duration. */
  ms?: number;
}

/** A step did not show what it had to; the report is made already. */
export class StepFailure extends Error {
  override name = 'StepFailure';
}

export type Steps = ReturnType<typeof createSteps>;

/** Runs steps one after the other and reports each: what was seen and how long it took, or what was expected instead. */
export function createSteps(report: (result: StepResult) => void) {
  return {
    /** @throws {StepFailure} when `run` throws. */
    async step<T>(step: string, expected: string, run: () => Promise<StepOutcome<T>>): Promise<T> {
      const start = performance.now();
      try {
        const { value, seen, ms } = await run();
        report({ step, ok: true, ms: ms ?? performance.now() - start, seen });
        return value;
      } catch (error) {
        const failure = error instanceof Error ? error.message : String(error);
        report({ step, ok: false, ms: performance.now() - start, expected, failure });
        throw new StepFailure(step, { cause: error });
      }
    },
  };
}

/** @throws with the message when the condition does not hold. */
export function check(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}
