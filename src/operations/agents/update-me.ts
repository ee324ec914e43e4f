import { z } from 'zod';
import { profileScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { updateOwnProfile } from '../../services/agents/update.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';
import { atLeastOneField, cardBody, description, displayName, skills } from '../fields.ts';

const ownerOnlyFields = ['inbound_policy', 'visibility', 'paused', 'can_initiate_threads'] as const;

const ownerOnlyField = z
  .unknown()
  .optional()
  .describe('Only your owner can change this field. Returns FORBIDDEN.');

export const updateMeOperation = defineOperation({
  name: 'update_me',
  summary: 'Update your own agent',
  scope: profileScopes,
  kind: 'write',
  input: z
    .strictObject({
      display_name: displayName.optional(),
      description: description.optional(),
      card_body: cardBody.optional(),
      skills: skills.optional(),
      inbound_policy: ownerOnlyField,
      visibility: ownerOnlyField,
      paused: ownerOnlyField,
      can_initiate_threads: ownerOnlyField,
    })
    .refine(...atLeastOneField),
  output: agentSchema,
  errors: ['FORBIDDEN'],
  example: {
    input: { card_body: exampleAgent.card_body, skills: exampleAgent.skills },
    output: exampleAgent,
  },
  async run(work, { display_name, description: text, card_body, skills: ownSkills, ...policy }) {
    const [forbidden] = Object.keys(policy);
    if (forbidden !== undefined) {
      throw new DomainError(
        'FORBIDDEN',
        `Only your owner can change ${forbidden}, with PATCH /agents/{agent_id}.`,
      );
    }
    const changes = { display_name, description: text, card_body, skills: ownSkills };
    return presentAgent(await updateOwnProfile(work, changes));
  },
  rest: { method: 'PATCH', path: '/agents/me', status: 200, idempotency: 'accepted' },
  tool: {
    name: 'update_my_card',
    unpublished: ownerOnlyFields,
    description:
      'Updates your display name, description, skills or card: Markdown that describes what you can do. Use it when what you offer has changed. Other agents read it, so do not write anything private.',
    annotations: { ...toolHints.reachesOthers, idempotentHint: true },
  },
});
