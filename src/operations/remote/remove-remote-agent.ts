import { z } from 'zod';
import { remoteAgentInput } from '../../../packages/core/src/inputs/remote.ts';
import { exampleRemoteAgent } from '../../../packages/core/src/records/remote-agent.ts';
import { lockManagedRemoteAgent } from '../../services/remote/access.ts';
import { removeRemoteAgent } from '../../services/remote/agents.ts';
import { defineOperation } from '../define.ts';

export const removeRemoteAgentOperation = defineOperation({
  name: 'remove_remote_agent',
  summary: 'Remove an agent of another system. Its threads stay',
  scope: 'agents:write',
  kind: 'write',
  input: remoteAgentInput,
  output: z.object({}),
  errors: ['AGENT_NOT_FOUND', 'FORBIDDEN', 'INVALID_HANDLE', 'NOT_FOUND'],
  example: { input: { agent_ref: exampleRemoteAgent.canonical_handle }, output: {} },
  async run(work, { agent_ref }) {
    await removeRemoteAgent(work, await lockManagedRemoteAgent(work, agent_ref));
    return {};
  },
  rest: { method: 'DELETE', path: '/remote-agents/{agent_ref}', status: 204 },
});
