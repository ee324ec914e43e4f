import type { Realtime } from '../../../realtime/contract.ts';
import { requireFeedScope } from '../../../../packages/core/src/events/feed-scopes.ts';
import type { PlaceKeeper } from '../prompts/instructions.ts';
import { defaultProgressMs } from './progress.ts';
import { type Tool, createTool } from './tools.ts';
import { createEventWait, waitTexts } from './wait-for-events.ts';

export interface WaitForEventsToolParts {
  realtime: Realtime;
  /** Time between progress notifications, in ms. Default 5,000. */
  progress_ms?: number;
}

/** The tool `wait_for_events`. It is not in the catalogue because it needs the exchange with the client. */
export function createWaitForEventsTool({
  realtime,
  progress_ms = defaultProgressMs,
}: WaitForEventsToolParts): Tool {
  const { operation } = createEventWait(realtime, { signal: new AbortController().signal, progress_ms });
  if (!operation.tool) throw new Error(`${operation.name} has no tool binding`);
  return {
    ...createTool(operation, operation.tool),
    waits: true,
    requirePermission: requireFeedScope,
    feedCursor: ({ cursor }) => cursor,
    createRun: ({ position, exchange: { signal, progress } }) =>
      createEventWait(realtime, { signal, progress_ms, progress, position }),
  };
}

/** The tools for callers whose place something else keeps: the tool of this file says what. */
export function describeWaits(tools: ReadonlyMap<string, Tool>, keeper: PlaceKeeper): Map<string, Tool> {
  const { description, cursor } = waitTexts(keeper);
  return new Map(
    Array.from(tools, ([name, tool]) => {
      if (name !== 'wait_for_events') return [name, tool];
      const { properties = {}, ...schema } = tool.definition.inputSchema;
      const inputSchema = {
        ...schema,
        properties: { ...properties, cursor: { ...properties['cursor'], description: cursor } },
      };
      return [name, { ...tool, definition: { ...tool.definition, description, inputSchema } }];
    }),
  );
}
