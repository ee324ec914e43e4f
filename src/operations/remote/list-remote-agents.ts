import { z } from 'zod';
import { listRemoteAgentsInput } from '../../../packages/core/src/inputs/remote.ts';
import {
  exampleRemoteAgent,
  presentRemoteAgent,
  remoteAgentSchema,
} from '../../../packages/core/src/records/remote-agent.ts';
import { listRemoteAgents } from '../../services/remote/agents.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';

export const listRemoteAgentsOperation = defineOperation({
  name: 'list_remote_agents',
  summary: 'List the agents of other systems that your owner has added, by handle',
  scope: 'agents:read',
  kind: 'read',
  input: listRemoteAgentsInput,
  ...pageOf(
    'remote_agents',
    z.array(remoteAgentSchema).describe('By handle.'),
    listRemoteAgents,
    presentRemoteAgent,
  ),
  errors: ['NOT_FOUND'],
  example: { input: { limit: 50 }, output: { remote_agents: [exampleRemoteAgent] } },
  rest: { method: 'GET', path: '/remote-agents', status: 200 },
});
