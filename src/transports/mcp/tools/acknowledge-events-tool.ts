import { z } from 'zod';
import { defineOperation, toolHints } from '../../../operations/define.ts';
import { examplePage } from '../../../operations/examples/events.ts';
import { idempotencyKeyPattern } from '../../../operations/fields.ts';
import type { Realtime } from '../../../realtime/contract.ts';
import { acknowledgeInput } from '../../../realtime/event-page.ts';
import { requireFeedScope } from '../../../realtime/feed-scopes.ts';
import { type Tool, createTool } from './tools.ts';

const input = acknowledgeInput.extend({
  idempotency_key: z
    .string()
    .regex(idempotencyKeyPattern)
    .optional()
    .describe('Taken as by every tool that writes; it is not needed, since twice is as good as once.'),
});

const output = z.object({
  pending_events: z
    .int()
    .describe('Events that you may see behind the position that is kept now; at most 100 are counted.'),
});

/**
 * The tool `acknowledge_events`: `POST /v1/events/ack` for models (contract, section 4). The position is one for the agent,
 * whichever door it is given at.
 */
export function createAcknowledgeEventsTool({
  realtime,
}: {
  realtime: Pick<Realtime, 'acknowledge' | 'feedStatus'>;
}): Tool {
  const face = {
    description:
      'Keeps a position in your feed for good: you have dealt with everything before it. pending_events counts from there, and wait_for_events without a cursor begins there, in your next conversation too. Give the cursor of the last answer of wait_for_events. It only moves forward.',
    annotations: { ...toolHints.write, idempotentHint: true },
  };
  const operation = defineOperation({
    name: 'acknowledge_events',
    summary: 'Say what you have dealt with',
    scope: 'any',
    // It writes, but as the feed does: without a transaction, and twice is as good as once.
    kind: 'read',
    input,
    output,
    async run({ actor }, { cursor }) {
      await realtime.acknowledge(actor, cursor);
      const { pending_events } = await realtime.feedStatus(actor);
      return { pending_events };
    },
    tool: face,
    errors: [],
    example: { input: { cursor: examplePage.cursor }, output: { pending_events: 0 } },
  });
  return {
    ...createTool(operation, face),
    requirePermission: requireFeedScope,
    feedStatus: ({ pending_events }) => (typeof pending_events === 'number' ? { pending_events } : {}),
  };
}
