import type { Realtime } from '../realtime/contract.ts';
import { requireFollowing } from '../realtime/following.ts';
import { usualProgress_ms } from './reporting.ts';
import { type Tool, toolOf } from './tools.ts';
import { waitForEvents } from './wait-for-events.ts';

export interface WaitingParts {
  realtime: Realtime;
  /** Time between two reports of a call that waits, in ms. Default 5,000. */
  progress_ms?: number;
}

/** The tool `wait_for_events`. It waits, so it is no operation of the catalogue; everything else of it goes the same way. */
export function waitingTool({ realtime, progress_ms = usualProgress_ms }: WaitingParts): Tool {
  const { operation } = waitForEvents(realtime, { signal: new AbortController().signal, progress_ms });
  if (!operation.tool) throw new Error(`${operation.name} has no face`);
  return {
    ...toolOf(operation, operation.tool),
    permit: requireFollowing,
    // Who has waited stands where the answer says.
    standing: ({ cursor }) => (typeof cursor === 'string' ? { cursor } : {}),
    during({ actor, exchange: { signal, progress } }) {
      const waiting = waitForEvents(realtime, { signal, progress_ms, progress });
      return {
        operation: waiting.operation,
        answered() {
          if (!signal.aborted) realtime.taken(actor, waiting.shown());
        },
      };
    },
  };
}
