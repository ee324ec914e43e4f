import { remoteAgentInput } from '../../../packages/core/src/inputs/remote.ts';
import {
  exampleRemoteAgent,
  presentRemoteAgent,
  remoteAgentSchema,
} from '../../../packages/core/src/records/remote-agent.ts';
import { requireRemoteAgent } from '../../services/remote/access.ts';
import { defineOperation } from '../define.ts';

export const getRemoteAgentOperation = defineOperation({
  name: 'get_remote_agent',
  summary: 'Retrieve an agent of another system that your owner has added',
  scope: 'agents:read',
  kind: 'read',
  input: remoteAgentInput,
  output: remoteAgentSchema,
  errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE', 'NOT_FOUND'],
  example: { input: { agent_ref: exampleRemoteAgent.canonical_handle }, output: exampleRemoteAgent },
  async run(work, { agent_ref }) {
    return presentRemoteAgent(await requireRemoteAgent(work, agent_ref));
  },
  rest: { method: 'GET', path: '/remote-agents/{agent_ref}', status: 200 },
});
