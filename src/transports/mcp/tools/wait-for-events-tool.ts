import type { Realtime } from '../../../realtime/contract.ts';
import { requireFeedScope } from '../../../realtime/feed-scopes.ts';
import { defaultProgressMs } from './progress.ts';
import { type Tool, createTool } from './tools.ts';
import { createEventWait } from './wait-for-events.ts';

export interface WaitForEventsToolParts {
  realtime: Realtime;
  /** Time between two reports of a call that waits, in ms. Default 5,000. */
  progress_ms?: number;
}

/** The tool `wait_for_events`. It waits, so it is no operation of the catalogue; everything else of it goes the same way. */
export function createWaitForEventsTool({
  realtime,
  progress_ms = defaultProgressMs,
}: WaitForEventsToolParts): Tool {
  const { operation } = createEventWait(realtime, { signal: new AbortController().signal, progress_ms });
  if (!operation.tool) throw new Error(`${operation.name} has no face`);
  return {
    ...createTool(operation, operation.tool),
    requirePermission: requireFeedScope,
    // Who has waited stands where the answer says.
    feedStatus: ({ cursor }) => (typeof cursor === 'string' ? { cursor } : {}),
    createRun({ actor, exchange: { signal, progress } }) {
      const waiting = createEventWait(realtime, { signal, progress_ms, progress });
      return {
        operation: waiting.operation,
        onResponseSent() {
          if (!signal.aborted) realtime.markDelivered(actor, waiting.shownEvents());
        },
      };
    },
  };
}
