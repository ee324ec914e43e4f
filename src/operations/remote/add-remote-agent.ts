import { addRemoteAgentInput } from '../../../packages/core/src/inputs/remote.ts';
import {
  exampleRemoteAgent,
  presentRemoteAgent,
  remoteAgentSchema,
} from '../../../packages/core/src/records/remote-agent.ts';
import { addRemoteAgent } from '../../services/remote/agents.ts';
import { acceptInvitation } from '../../services/remote/invitations.ts';
import { defineOperation } from '../define.ts';

export const addRemoteAgentOperation = defineOperation({
  name: 'add_remote_agent',
  summary: 'Add an agent of another system by the address of its A2A card, or by an invitation',
  scope: 'agents:write',
  kind: 'write',
  limit: { budget: 'contact_request' },
  input: addRemoteAgentInput,
  output: remoteAgentSchema,
  errors: ['AGENT_NOT_FOUND', 'DUPLICATE_HANDLE', 'FORBIDDEN', 'INVALID_HANDLE', 'NOT_FOUND'],
  example: {
    input: {
      card_url: exampleRemoteAgent.card_url,
      handle: 'freight',
      credential: { kind: 'bearer', token: 'a secret of the other system' },
    },
    output: {
      ...exampleRemoteAgent,
      display_name: 'freight',
      description: '',
      skills: [],
      provider: null,
      state: 'waiting',
      waiting_for: 'card',
      interface: null,
      signed_by: [],
      fingerprint: null,
      confirmed_fingerprint: null,
      last_delivered_at: null,
      expires_at: exampleRemoteAgent.created_at + 7 * 24 * 3_600_000,
    },
  },
  async run(work, input) {
    const { card_url = '', invitation, agent = '', organization, ...rest } = input;
    const added = await (invitation === undefined
      ? addRemoteAgent(work, { ...rest, card_url, organization })
      : acceptInvitation(work, { invitation, agent, handle: rest.handle }));
    return presentRemoteAgent(added);
  },
  rest: {
    method: 'POST',
    path: '/remote-agents',
    status: 201,
    idempotency: 'accepted',
    location: ({ id }) => `/remote-agents/${id}`,
  },
});
