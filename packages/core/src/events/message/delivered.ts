import { z } from 'zod';
import { agentRef, timestamp } from '../../records/agent.ts';
import { exampleAgents, exampleThread } from '../../records/examples.ts';
import { threadIdentifier } from '../../records/message.ts';
import { defineEvent } from '../define-event.ts';

export const messageDelivered = defineEvent({
  type: 'message.delivered',
  label: 'Own message delivered',
  scope: 'threads:read',
  isInboxItem: false,
  filters: ['thread_id'],
  handles: ({ members }) => members.map(({ canonical_handle }) => canonical_handle),
  resources: [],
  data: z
    .object({
      thread_id: threadIdentifier,
      delivered_at: timestamp,
      members: z
        .array(
          agentRef.extend({
            up_to_sequence: z
              .int()
              .min(1)
              .describe('Every message for this member up to this sequence counts as delivered.'),
          }),
        )
        .min(1)
        .describe('The members whose delivery mark moved, each with its new mark.'),
    })
    .meta({ id: 'MessageDelivered', description: 'Messages were delivered to members.' }),
  example: {
    thread_id: exampleThread.id,
    delivered_at: exampleThread.created_at + 400,
    members: [{ ...exampleAgents.support, up_to_sequence: 1 }],
  },
});
