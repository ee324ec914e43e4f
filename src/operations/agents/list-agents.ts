import { z } from 'zod';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { listPersonalAgents } from '../../services/agents/list.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';
import { pageFields } from '../../../packages/core/src/inputs/fields.ts';

export const listAgentsOperation = defineOperation({
  name: 'list_agents',
  summary: 'List the personal agents of your owner',
  scope: 'agents:read',
  kind: 'read',
  replica: 'first-page',
  input: z.strictObject(pageFields(100, 50)),
  ...pageOf('agents', z.array(agentSchema).describe('Oldest first.'), listPersonalAgents, presentAgent),
  errors: [],
  example: { input: { limit: 50 }, output: { agents: [exampleAgent] } },
  rest: { method: 'GET', path: '/agents', status: 200 },
});
