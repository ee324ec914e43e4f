import { findDifferences } from './assertions.ts';
import type { Step } from './documents.ts';
import { readPath } from './values.ts';

type ExpectStream = NonNullable<Step['expect_stream']>;

const terminal = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

/** What an assertion about an event can mean: the event with its payload by both spellings, or the payload alone. */
function readingsOf(event: unknown): unknown[] {
  const { statusUpdate, artifactUpdate, ...others } = event as Record<string, unknown>;
  const named = {
    ...others,
    ...(statusUpdate !== undefined && { statusUpdate, status_update: statusUpdate }),
    ...(artifactUpdate !== undefined && { artifactUpdate, artifact_update: artifactUpdate }),
  };
  return [named, others['task'] ?? statusUpdate ?? artifactUpdate];
}

/** Differences to the closest reading. */
function findEventDifferences(expected: unknown, event: unknown): string[] {
  const found = readingsOf(event).map((reading) => findDifferences(expected, reading, 'the event'));
  return found.find((differences) => differences.length === 0) ?? found.flat();
}

/** What of a stream is not as a document expects it; empty if all is. */
export function findStreamDifferences(expected: ExpectStream, events: readonly unknown[]): string[] {
  const { min_count = 0, ordering, events: some = [], each_event, final_event } = expected;
  const found: string[] = [];
  if (events.length < min_count) found.push(`${events.length} events, not ${min_count}`);
  if (ordering) found.push(...findStateOrderFaults(events));
  for (const { description = '', match = 'exact_position', index = 0, ...assertion } of some) {
    const candidates = match === 'any_position' ? events : [events[index]];
    const isMet = candidates.some((event) => findEventDifferences(assertion, event ?? {}).length === 0);
    if (!isMet) found.push(`no event: ${description}`);
  }
  if (each_event !== undefined)
    found.push(...events.flatMap((event) => findEventDifferences(each_event, event)));
  if (final_event !== undefined) found.push(...findEventDifferences(final_event, events.at(-1) ?? {}));
  return found;
}

/** No state after a terminal one, and `SUBMITTED` only at the start. */
function findStateOrderFaults(events: readonly unknown[]): string[] {
  const states = events.flatMap((event) => [
    ...readPath(event, 'task.status.state'),
    ...readPath(event, 'statusUpdate.status.state'),
  ]);
  return states.flatMap((state, index) => {
    const before = states[index - 1];
    const isWrong =
      index > 0 && (terminal.has(String(before)) || (state === 'TASK_STATE_SUBMITTED' && before !== state));
    return isWrong ? [`${String(state)} after ${String(before)}`] : [];
  });
}
