import { z } from 'zod';
import { defineOperation, toolHints } from '../../../operations/define.ts';
import { examplePage } from '../../../operations/examples/events.ts';
import { idempotencyKeyPattern } from '../../../../packages/core/src/inputs/fields.ts';
import type { Realtime } from '../../../realtime/contract.ts';
import { acknowledgeInput } from '../../../../packages/core/src/inputs/events.ts';
import { requireFeedScope } from '../../../../packages/core/src/events/feed-scopes.ts';
import type { Position } from '../sessions/places.ts';
import { type Tool, createTool, toWaitPosition } from './tools.ts';

const input = acknowledgeInput.extend({
  idempotency_key: z
    .string()
    .regex(idempotencyKeyPattern)
    .optional()
    .describe('Not needed: a repeated call has no further effect.'),
});

const output = z.object({
  pending_events: z.int().describe('Number of events that the next wait returns, counted up to 100.'),
  pending_events_more: z.literal(true).optional().describe('Present if there are more.'),
});

/**
 * The tool `acknowledge_events`: `POST /v1/events/ack` for models. The agent has one position for all transports.
 */
export function createAcknowledgeEventsTool({
  realtime,
}: {
  realtime: Pick<Realtime, 'acknowledge' | 'feedStatus'>;
}): Tool {
  const binding = {
    description:
      'Stores the feed position up to which you have handled all events. Call it then, with the cursor of the last wait_for_events result: your next conversation starts there. It only moves forward.',
    annotations: { ...toolHints.write, idempotentHint: true },
  };
  const createOperation = (position?: Position) =>
    defineOperation({
      name: 'acknowledge_events',
      summary: 'Acknowledge events',
      scope: 'any',
      // It writes without a transaction and is idempotent by itself, so it needs no idempotency key.
      kind: 'read',
      input,
      output,
      async run({ actor }, { cursor }) {
        await realtime.acknowledge(actor, cursor);
        const { cursor: _end, ...pending } = await realtime.feedStatus(actor, toWaitPosition(position));
        return pending;
      },
      tool: binding,
      errors: [],
      example: { input: { cursor: examplePage.cursor }, output: { pending_events: 0 } },
    });
  return {
    ...createTool(createOperation(), binding),
    requirePermission: requireFeedScope,
    feedCursor: () => undefined,
    createRun: ({ position }) => ({ operation: createOperation(position) }),
  };
}
