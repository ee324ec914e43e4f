import { updateRemoteAgentInput } from '../../../packages/core/src/inputs/remote.ts';
import {
  exampleRemoteAgent,
  presentRemoteAgent,
  remoteAgentSchema,
} from '../../../packages/core/src/records/remote-agent.ts';
import { lockManagedRemoteAgent } from '../../services/remote/access.ts';
import { updateRemoteAgent } from '../../services/remote/agents.ts';
import { defineOperation } from '../define.ts';

export const updateRemoteAgentOperation = defineOperation({
  name: 'update_remote_agent',
  summary: 'Change the name or the credential of an agent of another system',
  scope: 'agents:write',
  kind: 'write',
  input: updateRemoteAgentInput,
  output: remoteAgentSchema,
  errors: ['AGENT_NOT_FOUND', 'FORBIDDEN', 'INVALID_HANDLE', 'NOT_FOUND'],
  example: {
    input: { agent_ref: exampleRemoteAgent.canonical_handle, display_name: exampleRemoteAgent.display_name },
    output: exampleRemoteAgent,
  },
  async run(work, { agent_ref, ...changes }) {
    const agent = await lockManagedRemoteAgent(work, agent_ref);
    return presentRemoteAgent(await updateRemoteAgent(work, agent, changes));
  },
  rest: { method: 'PATCH', path: '/remote-agents/{agent_ref}', status: 200, idempotency: 'accepted' },
});
