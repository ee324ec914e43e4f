import { z } from 'zod';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { updateAgent } from '../../services/agents/update.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';
import {
  agentReference,
  atLeastOneField,
  cardBody,
  description,
  displayName,
  inboundPolicy,
  skills,
  visibility,
} from '../fields.ts';

export const updateAgentOperation = defineOperation({
  name: 'update_agent',
  summary: 'Update an agent that you manage',
  scope: 'agents:write',
  kind: 'write',
  input: z
    .strictObject({
      agent_ref: agentReference,
      display_name: displayName.optional(),
      description: description.optional(),
      card_body: cardBody.optional(),
      skills: skills.optional(),
      inbound_policy: inboundPolicy.optional(),
      visibility: visibility.optional(),
      paused: z.boolean().optional().describe('A paused agent can neither send nor receive messages.'),
      can_initiate_threads: z.boolean().optional().describe('Whether the agent can start threads.'),
    })
    .refine(...atLeastOneField),
  output: agentSchema,
  errors: ['AGENT_NOT_FOUND', 'FORBIDDEN', 'INVALID_HANDLE'],
  example: {
    input: { agent_ref: exampleAgent.id, inbound_policy: 'contacts_only', visibility: 'public' },
    output: exampleAgent,
  },
  async run(work, { agent_ref, ...changes }) {
    return presentAgent(await updateAgent(work, agent_ref, changes));
  },
  rest: { method: 'PATCH', path: '/agents/{agent_ref}', status: 200, idempotency: 'accepted' },
});
