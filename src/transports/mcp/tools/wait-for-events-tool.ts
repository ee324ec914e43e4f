import type { Realtime } from '../../../realtime/contract.ts';
import { requireFeedScope } from '../../../realtime/feed-scopes.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { defaultProgressMs } from './progress.ts';
import { type Tool, createTool } from './tools.ts';
import { createEventWait } from './wait-for-events.ts';

export interface WaitForEventsToolParts {
  realtime: Realtime;
  sessions: Pick<Sessions, 'readPosition' | 'movePosition'>;
  /** Time between progress notifications, in ms. Default 5,000. */
  progress_ms?: number;
}

/** The tool `wait_for_events`. It is not in the catalogue because it needs the exchange with the client. */
export function createWaitForEventsTool({
  realtime,
  sessions,
  progress_ms = defaultProgressMs,
}: WaitForEventsToolParts): Tool {
  const { operation } = createEventWait(realtime, { signal: new AbortController().signal, progress_ms });
  if (!operation.tool) throw new Error(`${operation.name} has no tool binding`);
  return {
    ...createTool(operation, operation.tool),
    requirePermission: requireFeedScope,
    feedStatus: ({ cursor }) => (typeof cursor === 'string' ? { cursor } : {}),
    createRun({ actor, session_key, exchange: { signal, progress } }) {
      const readStart = async () => (session_key ? sessions.readPosition(session_key) : undefined);
      const wait = createEventWait(realtime, { signal, progress_ms, progress, readStart });
      return {
        operation: wait.operation,
        onResponseSent() {
          if (signal.aborted) return;
          const { events, move } = wait.shown();
          realtime.markDelivered(actor, events);
          if (session_key) sessions.movePosition(session_key, move);
        },
      };
    },
  };
}
