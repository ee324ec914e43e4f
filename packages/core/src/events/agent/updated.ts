import { z } from 'zod';
import { agentSchema, timestamp } from '../../records/agent.ts';
import { exampleAgent } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';

const { is_online: _presence, ...example } = exampleAgent;

export const agentUpdated = defineEvent({
  type: 'agent.updated',
  label: 'Agent changed',
  scope: 'agents:read',
  isInboxItem: true,
  filters: [],
  handles: ({ canonical_handle }) => [canonical_handle],
  resources: ['service://contacts'],
  data: agentSchema
    .omit({ is_online: true })
    .extend({
      remote: z
        .object({
          state: z
            .enum(['waiting', 'ready'])
            .describe('waiting: nothing is sent until a person confirms it.'),
          failing_since: timestamp.nullable().describe('Since when deliveries fail; null if they do not.'),
        })
        .optional()
        .describe('Only when it has changed, of an agent of another system.'),
    })
    .meta({ id: 'AgentUpdated', description: 'The current state of an agent.' }),
  example,
});
