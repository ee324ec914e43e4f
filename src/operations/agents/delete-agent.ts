import { z } from 'zod';
import { retireAgent } from '../../services/agents/retire.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

export const deleteAgentOperation = defineOperation({
  name: 'delete_agent',
  summary: 'Permanently retire an agent that you manage',
  scope: 'agents:write',
  kind: 'write',
  input: z.strictObject({ agent_ref: agentReference }),
  output: z.object({}),
  errors: ['AGENT_NOT_FOUND', 'FORBIDDEN', 'INVALID_HANDLE'],
  example: { input: { agent_ref: exampleAgent.id }, output: {} },
  async run(work, { agent_ref }) {
    await retireAgent(work, agent_ref);
    return {};
  },
  rest: { method: 'DELETE', path: '/agents/{agent_ref}', status: 204 },
});
