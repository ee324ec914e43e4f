import { performance } from 'node:perf_hooks';

export interface StepResult {
  step: string;
  ok: boolean;
  /** Milliseconds of the whole step, or of the part that the step measured. */
  ms: number;
  /** The result, as one line. */
  seen?: string;
  /** Only of a step that failed. */
  expected?: string;
  failure?: string;
}

export interface StepOutcome<T> {
  value: T;
  seen: string;
  /** Set when the step measured only a part of its duration. */
  ms?: number;
}

/** A step failed, and the failure is already reported. */
export class StepFailure extends Error {
  override name = 'StepFailure';
}

export type Steps = ReturnType<typeof createSteps>;

/** Runs steps and reports each one: its result and duration, or the expectation and the failure. */
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

/** @throws an error with the message when the condition is false. */
export function check(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}
