import { z } from 'zod';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { listManagedAgents } from '../../services/agents/list.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';
import { pageFields } from '../../../packages/core/src/inputs/fields.ts';

export const listManagedAgentsOperation = defineOperation({
  name: 'list_managed_agents',
  summary: 'List the agents that you manage, personal and of organizations',
  scope: 'agents:read',
  kind: 'read',
  replica: 'first-page',
  input: z.strictObject(pageFields(100, 50)),
  ...pageOf('agents', z.array(agentSchema).describe('Oldest first.'), listManagedAgents, presentAgent),
  errors: [],
  example: { input: { limit: 50 }, output: { agents: [exampleAgent] } },
  rest: { method: 'GET', path: '/agents/managed', status: 200 },
});
