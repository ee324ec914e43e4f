import { ownTurn } from './map-in-turns.ts';

/** A long computation that yields where other work can run. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Runs the steps without a pause. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs each step in its own iteration of the event loop, so that other work waits for one step at most. */
export async function runInTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    await ownTurn();
    const step = steps.next();
    if (step.done) return step.value;
  }
}
