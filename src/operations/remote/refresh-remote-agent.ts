import { remoteAgentInput } from '../../../packages/core/src/inputs/remote.ts';
import {
  exampleRemoteAgent,
  presentRemoteAgent,
  remoteAgentSchema,
} from '../../../packages/core/src/records/remote-agent.ts';
import { lockManagedRemoteAgent } from '../../services/remote/access.ts';
import { refreshRemoteAgent } from '../../services/remote/agents.ts';
import { defineOperation } from '../define.ts';

export const refreshRemoteAgentOperation = defineOperation({
  name: 'refresh_remote_agent',
  summary: 'Read the card of an agent of another system again, and send pending messages',
  scope: 'agents:write',
  kind: 'write',
  limit: { budget: 'webhook_test' },
  input: remoteAgentInput,
  output: remoteAgentSchema,
  errors: ['AGENT_NOT_FOUND', 'FORBIDDEN', 'INVALID_HANDLE', 'NOT_FOUND'],
  example: { input: { agent_ref: exampleRemoteAgent.canonical_handle }, output: exampleRemoteAgent },
  async run(work, { agent_ref }) {
    const agent = await lockManagedRemoteAgent(work, agent_ref);
    await refreshRemoteAgent(work, agent);
    return presentRemoteAgent(agent);
  },
  rest: { method: 'POST', path: '/remote-agents/{agent_ref}/refresh', status: 200 },
});
