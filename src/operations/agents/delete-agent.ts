import { z } from 'zod';
import { retireAgent } from '../../services/agents/retire.ts';
import { defineAction } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

export const deleteAgentOperation = defineAction({
  name: 'delete_agent',
  summary: 'Permanently retire an agent that you manage',
  scope: 'agents:write',
  kind: 'write',
  input: z.strictObject({ agent_ref: agentReference }),
  errors: ['AGENT_NOT_FOUND', 'FORBIDDEN', 'INVALID_HANDLE'],
  example: { agent_ref: exampleAgent.id },
  run: (work, { agent_ref }) => retireAgent(work, agent_ref),
  rest: { method: 'DELETE', path: '/agents/{agent_ref}', status: 204 },
});
