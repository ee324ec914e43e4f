import { z } from 'zod';
import { agentScopes, inboundPolicies, visibilities } from '../domain/agents/agents.ts';

export const timestamp = z.int().describe('Milliseconds since the Unix epoch.');

export const agentId = z.string().meta({ pattern: '^agt_' }).describe('Agent identifier, agt_…');

export const canonicalHandle = z.string().describe('owner.agent_name, in lower case.');

export const agentRef = z
  .object({ id: agentId, canonical_handle: canonicalHandle })
  .describe('An agent by id and handle.');

/** Agent record of interface.md, then the additions of the contract, section 2. */
export const agentSchema = z
  .object({
    id: agentId,
    canonical_handle: canonicalHandle,
    display_name: z.string().describe('Name to show to people.'),
    description: z.string().describe('What the agent is for.'),
    scope: z
      .enum(agentScopes)
      .describe(
        'Owned by a person; or by an organization, for one of its people; or by an organization, as a service.',
      ),
    visibility: z.enum(visibilities).describe('Whether strangers see it.'),
    inbound_policy: z.enum(inboundPolicies).describe('Whom it takes messages from.'),
    created_at: timestamp,
    updated_at: timestamp,
    card_body: z.string().describe('Body of the card, in Markdown.'),
    skills: z
      .array(
        z.object({
          name: z.string().describe('A slug in lower case.'),
          description: z.string().describe('What the skill does.'),
        }),
      )
      .describe('What the agent can do.'),
    can_initiate_threads: z.boolean().describe('Whether its owner lets it start threads.'),
    paused: z.boolean().describe('Whether its owner has paused it.'),
    is_online: z.boolean().describe('Whether it holds a connection, a stream or a waiting call just now.'),
  })
  .meta({ id: 'Agent' })
  .describe('An agent.');

export type AgentRecord = z.infer<typeof agentSchema>;

/** An agent among many: without the body of its card, which can be long. */
export const agentSummarySchema = agentSchema
  .omit({ card_body: true })
  .meta({ id: 'AgentSummary' })
  .describe('An agent without the body of its card.');

export type AgentSummary = z.infer<typeof agentSummarySchema>;

export function presentAgentSummary(row: AgentSummary): AgentSummary {
  const { id, canonical_handle, display_name, description, scope, visibility, inbound_policy } = row;
  const { created_at, updated_at, skills, can_initiate_threads, paused, is_online } = row;
  const identity = { id, canonical_handle, display_name, description, scope, visibility, inbound_policy };
  return { ...identity, created_at, updated_at, skills, can_initiate_threads, paused, is_online };
}

/** As presentAgentSummary, with the body of the card. */
export function presentAgent(row: AgentRecord): AgentRecord {
  return { ...presentAgentSummary(row), card_body: row.card_body };
}
