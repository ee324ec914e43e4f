import { ownerOnlyFields, updateMeInput } from '../../../packages/core/src/inputs/agents.ts';
import { profileScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { updateOwnProfile } from '../../services/agents/update.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';

export const updateMeOperation = defineOperation({
  name: 'update_me',
  summary: 'Update your own agent',
  scope: profileScopes,
  kind: 'write',
  input: updateMeInput,
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
      'Updates your display name, description, skills or card: Markdown about what you can do. Use it when what you offer has changed. Others read it: it is not private.',
    annotations: { ...toolHints.reachesOthers, idempotentHint: true },
  },
});
