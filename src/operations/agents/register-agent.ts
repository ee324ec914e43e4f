import { registerAgentInput } from '../../../packages/core/src/inputs/agents.ts';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { registerAgent } from '../../services/agents/registration.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';

export const registerAgentOperation = defineOperation({
  name: 'register_agent',
  summary: 'Register an agent for your owner or an organization',
  scope: 'agents:write',
  kind: 'write',
  input: registerAgentInput,
  output: agentSchema,
  errors: ['DUPLICATE_HANDLE', 'FORBIDDEN', 'NOT_FOUND'],
  example: {
    input: {
      name: 'planner',
      display_name: exampleAgent.display_name,
      description: exampleAgent.description,
      visibility: exampleAgent.visibility,
      card_body: exampleAgent.card_body,
      skills: exampleAgent.skills,
    },
    output: exampleAgent,
  },
  async run(work, input) {
    return presentAgent(await registerAgent(work, input));
  },
  rest: {
    method: 'POST',
    path: '/agents',
    status: 201,
    idempotency: 'accepted',
    location: ({ id }) => `/agents/${id}`,
  },
});
