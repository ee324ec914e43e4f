import { z } from 'zod';
import { agentScopes, defaultVisibility } from '../../../packages/core/src/domain/agents/agents.ts';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { registerAgent } from '../../services/agents/registration.ts';
import { defineOperation } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';
import { cardBody, description, displayName, inboundPolicy, skills, visibility } from '../fields.ts';

export const registerAgentOperation = defineOperation({
  name: 'register_agent',
  summary: 'Register an agent for your owner or an organization',
  scope: 'agents:write',
  kind: 'write',
  input: z.strictObject({
    name: z
      .string()
      .min(1, 'must have at least 1 character')
      .max(32, 'must have at most 32 characters')
      .describe('The part of the handle after the dot. It cannot be changed or reused.'),
    display_name: displayName,
    description: description.default(''),
    inbound_policy: inboundPolicy.default('contacts_only'),
    visibility: visibility.default(defaultVisibility),
    card_body: cardBody.default(''),
    skills: skills.default([]),
    scope: z
      .enum(agentScopes)
      .optional()
      .describe(
        'For an agent of an organization: member (belongs to your person) or shared (managed by its admins).',
      ),
    organization: z
      .string()
      .min(1)
      .max(80)
      .optional()
      .describe('Slug of the organization that will own the agent.'),
  }),
  output: agentSchema,
  errors: ['DUPLICATE_HANDLE', 'FORBIDDEN', 'NOT_FOUND'],
  example: {
    input: {
      name: 'planner',
      display_name: exampleAgent.display_name,
      description: exampleAgent.description,
      visibility: exampleAgent.visibility,
      card_body: exampleAgent.card_body,
      skills: exampleAgent.skills,
    },
    output: exampleAgent,
  },
  async run(work, input) {
    return presentAgent(await registerAgent(work, input));
  },
  rest: {
    method: 'POST',
    path: '/agents',
    status: 201,
    idempotency: 'accepted',
    location: ({ id }) => `/agents/${id}`,
  },
});
