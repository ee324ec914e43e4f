import { z } from 'zod';
import { nextCursor } from '../../../packages/core/src/inputs/fields.ts';
import { listRemoteAgentsInput } from '../../../packages/core/src/inputs/remote.ts';
import {
  exampleRemoteAgent,
  presentRemoteAgent,
  remoteAgentSchema,
} from '../../../packages/core/src/records/remote-agent.ts';
import { listRemoteAgents } from '../../services/remote/agents.ts';
import { defineOperation } from '../define.ts';

export const listRemoteAgentsOperation = defineOperation({
  name: 'list_remote_agents',
  summary: 'List the agents of other systems that your owner has added, by handle',
  scope: 'agents:read',
  kind: 'read',
  input: listRemoteAgentsInput,
  output: z.object({
    remote_agents: z.array(remoteAgentSchema).describe('By handle.'),
    next_cursor: nextCursor,
  }),
  errors: ['NOT_FOUND'],
  example: { input: { limit: 50 }, output: { remote_agents: [exampleRemoteAgent] } },
  async run(work, input) {
    const { agents, next_cursor } = await listRemoteAgents(work, input);
    return { remote_agents: agents.map((agent) => presentRemoteAgent(agent)), next_cursor };
  },
  rest: { method: 'GET', path: '/remote-agents', status: 200 },
});
