import { z } from 'zod';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { requireAgent } from '../../services/access.ts';
import { defineOperation } from '../define.ts';
import { exampleSupport } from '../../../packages/core/src/records/examples.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

export const getAgentOperation = defineOperation({
  name: 'get_agent',
  summary: 'Retrieve an agent',
  scope: 'agents:read',
  kind: 'read',
  input: z.strictObject({ agent_ref: agentReference }),
  output: agentSchema,
  errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE'],
  example: { input: { agent_ref: exampleSupport.canonical_handle }, output: exampleSupport },
  async run(work, { agent_ref }) {
    return presentAgent(await requireAgent(work, agent_ref));
  },
  rest: { method: 'GET', path: '/agents/{agent_ref}', status: 200 },
});
