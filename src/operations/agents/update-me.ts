import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { agentSchema, presentAgent } from '../../presenters/agent.ts';
import { updateOwnProfile } from '../../services/agents/update.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleAgent } from '../examples/records.ts';
import { atLeastOneField, cardBody, description, displayName, skills } from '../fields.ts';

const ownersField = z.unknown().optional().describe('For your owner to set: refused with FORBIDDEN.');

export const updateMeOperation = defineOperation({
  name: 'update_me',
  summary: 'Change what you say of yourself',
  scope: 'any',
  kind: 'write',
  input: z
    .strictObject({
      display_name: displayName.optional(),
      description: description.optional(),
      card_body: cardBody.optional(),
      skills: skills.optional(),
      inbound_policy: ownersField,
      visibility: ownersField,
      paused: ownersField,
      can_initiate_threads: ownersField,
    })
    .refine(...atLeastOneField),
  output: agentSchema,
  errors: ['FORBIDDEN'],
  example: {
    input: { card_body: exampleAgent.card_body, skills: exampleAgent.skills },
    output: exampleAgent,
  },
  async run(work, { display_name, description: text, card_body, skills: able, ...policy }) {
    const [forbidden] = Object.keys(policy);
    if (forbidden !== undefined) {
      throw new DomainError('FORBIDDEN', `${forbidden} is for your owner to set: PATCH /agents/{agent_id}.`);
    }
    const changes = { display_name, description: text, card_body, skills: able };
    return presentAgent(await updateOwnProfile(work, changes));
  },
  rest: { method: 'PATCH', path: '/agents/me', status: 200, idempotency: 'accepted' },
  tool: {
    name: 'update_my_card',
    description:
      'Changes your display name, description, skills or card (markdown that says what you can do).',
    annotations: { ...toolHints.write, idempotentHint: true },
  },
});
