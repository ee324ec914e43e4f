import { updateAgentInput } from '../../../packages/core/src/inputs/agents.ts';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { updateAgent } from '../../services/agents/update.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';

export const updateAgentOperation = defineOperation({
  name: 'update_agent',
  summary: 'Update an agent that you manage',
  scope: 'agents:write',
  kind: 'write',
  input: updateAgentInput,
  output: agentSchema,
  errors: ['AGENT_NOT_FOUND', 'FORBIDDEN', 'INVALID_HANDLE'],
  example: {
    input: { agent_ref: exampleAgent.id, inbound_policy: 'contacts_only', visibility: 'public' },
    output: exampleAgent,
  },
  async run(work, { agent_ref, ...changes }) {
    return presentAgent(await updateAgent(work, agent_ref, changes));
  },
  rest: { method: 'PATCH', path: '/agents/{agent_ref}', status: 200, idempotency: 'accepted' },
});
