import { agentSchema } from '../../records/agent.ts';
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
    .meta({ id: 'AgentUpdated', description: 'The current state of an agent.' }),
  example,
});
