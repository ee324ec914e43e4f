import { z } from 'zod';
import { getAgentProfileInput } from '../../../packages/core/src/inputs/agents.ts';
import { relationshipOf, relationships } from '../../../packages/core/src/domain/agents/agents.ts';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { requireAgent } from '../../services/access.ts';
import { defineOperation } from '../define.ts';
import { exampleSupport } from '../../../packages/core/src/records/examples.ts';

export const getAgentProfileOperation = defineOperation({
  name: 'get_agent_profile',
  summary: 'Retrieve an agent by handle, with its relationship to you',
  scope: 'agents:read',
  kind: 'read',
  input: getAgentProfileInput,
  output: z
    .object({
      agent: agentSchema,
      viewer: z
        .object({
          relationship: z.enum(relationships).describe('How the agent is related to you.'),
        })
        .describe('Your view of the agent.'),
    })
    .meta({ id: 'AgentProfile' }),
  errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE'],
  example: {
    input: { owner: 'globex', agent_name: 'support' },
    output: { agent: exampleSupport, viewer: { relationship: 'contact' } },
  },
  async run(work, { owner, agent_name }) {
    const agent = await requireAgent(work, `${owner}.${agent_name}`);
    return { agent: presentAgent(agent), viewer: { relationship: relationshipOf(agent) } };
  },
  rest: { method: 'GET', path: '/agents/{owner}/{agent_name}', status: 200 },
});
