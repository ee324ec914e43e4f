import { z } from 'zod';
import { agentScopes, inboundPolicies, visibilities } from '../domain/agents/agents.ts';

export const timestamp = z.int().describe('Milliseconds since the Unix epoch.');

export const agentId = z.string().meta({ pattern: '^agt_' }).describe('Agent identifier, agt_…');

export const canonicalHandle = z.string().describe('owner.agent_name, in lower case.');

export const agentRef = z
  .object({ id: agentId, canonical_handle: canonicalHandle })
  .describe('An agent by id and handle.');

/** Agent record. */
export const agentSchema = z
  .object({
    id: agentId,
    canonical_handle: canonicalHandle,
    display_name: z.string().describe('Name to show to people.'),
    description: z.string().describe('What the agent is for.'),
    scope: z
      .enum(agentScopes)
      .describe(
        'personal: owned by a person. member: owned by an organization, for one of its members. shared: owned by an organization. remote: an agent of another system, reached over A2A.',
      ),
    visibility: z
      .enum(visibilities)
      .describe('Whether strangers can see it: not at all, by its exact handle, or also in search.'),
    inbound_policy: z.enum(inboundPolicies).describe('The agents that can send messages to it.'),
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
    can_initiate_threads: z.boolean().describe('Whether it is allowed to start threads.'),
    paused: z.boolean().describe('Whether its owner has paused it.'),
    is_online: z.boolean().describe('Whether it has an open connection, stream or waiting call.'),
  })
  .meta({ id: 'Agent' })
  .describe('An agent.');

export type AgentRecord = z.infer<typeof agentSchema>;

/** Agent record for lists: without the body of its card, which can be long. */
export const agentSummarySchema = agentSchema
  .omit({ card_body: true })
  .meta({ id: 'AgentSummary' })
  .describe('An agent without the body of its card.');

export type AgentSummary = z.infer<typeof agentSummarySchema>;

/** Returns the summary of an agent from a row that may have more columns. */
export function presentAgentSummary(row: AgentSummary): AgentSummary {
  const { id, canonical_handle, display_name, description, scope, visibility, inbound_policy } = row;
  const { created_at, updated_at, skills, can_initiate_threads, paused, is_online } = row;
  const identity = { id, canonical_handle, display_name, description, scope, visibility, inbound_policy };
  return { ...identity, created_at, updated_at, skills, can_initiate_threads, paused, is_online };
}

/** Returns an agent with the body of its card. */
export function presentAgent(row: AgentRecord): AgentRecord {
  return { ...presentAgentSummary(row), card_body: row.card_body };
}
