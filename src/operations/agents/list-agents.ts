import { z } from 'zod';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { listPersonalAgents } from '../../services/agents/list.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';
import { nextCursor, pageFields } from '../../../packages/core/src/inputs/fields.ts';

export const listAgentsOperation = defineOperation({
  name: 'list_agents',
  summary: 'List the personal agents of your owner',
  scope: 'agents:read',
  kind: 'read',
  replica: 'first-page',
  input: z.strictObject(pageFields(100, 50)),
  output: z.object({ agents: z.array(agentSchema).describe('Oldest first.'), next_cursor: nextCursor }),
  errors: [],
  example: { input: { limit: 50 }, output: { agents: [exampleAgent] } },
  async run(work, input) {
    const { agents, next_cursor } = await listPersonalAgents(work, input);
    return { agents: agents.map((agent) => presentAgent(agent)), next_cursor };
  },
  rest: { method: 'GET', path: '/agents', status: 200 },
});
