import { z } from 'zod';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { relationshipOf } from '../../../packages/core/src/domain/agents/agents.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';
import { exampleSupport } from '../../../packages/core/src/records/examples.ts';
import { type CardView, presentA2aCard } from '../../presenters/a2a/card.ts';
import { a2aCardSchema } from '../../presenters/a2a/card-schema.ts';
import { agentNotFound, requireAgent } from '../../services/access.ts';
import { findMembers } from '../../services/threads/threads.ts';
import type { WorkSettings } from '../../work/unit-of-work.ts';
import { defineOperation } from '../define.ts';
import { toCardSettings } from './card-settings.ts';

/** `GetExtendedAgentCard` of A2A. The transport signs the card. */
export const getExtendedAgentCardOperation = defineOperation({
  name: 'a2a_get_extended_agent_card',
  summary: 'Get the extended A2A card of an agent',
  scope: 'agents:read',
  kind: 'read',
  input: z.strictObject({ agent_ref: agentReference }),
  output: a2aCardSchema,
  async run(work, { agent_ref }) {
    const agent = await requireAgent(work, agent_ref);
    const [principal, start] = await Promise.all([
      work.db.managedAgents.findPrincipal(agent.id),
      findMembers(work, agent.id),
    ]);
    if (!principal) throw agentNotFound();
    return presentA2aCard({ ...agent, owner_name: principal.owner_name }, toCardSettings(work.settings), {
      relationship: relationshipOf(agent),
      accepts: start instanceof DomainError ? start.code : true,
      is_online: agent.is_online,
      ...(work.settings.limits && { rate_limits: showLimits(work.settings.limits) }),
    });
  },
  errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE'],
  example: {
    input: { agent_ref: exampleSupport.canonical_handle },
    output: presentA2aCard(
      { ...exampleSupport, owner_name: 'Globex' },
      {
        public_url: 'https://ams.example.com',
        wait_seconds: 25,
        task_days: 30,
        attachment_types: null,
      },
      { relationship: 'contact', accepts: true, is_online: true },
    ),
  },
});

/** The budgets of calls through A2A. */
const shownBudgets = ['a2a_task', 'send_message', 'event_stream', 'default'] as const;

function showLimits(limits: NonNullable<WorkSettings['limits']>): NonNullable<CardView['rate_limits']> {
  return Object.fromEntries(
    shownBudgets.map((budget) => [budget, { calls: limits[budget].points, seconds: limits[budget].seconds }]),
  );
}
