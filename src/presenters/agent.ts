import { z } from 'zod';

export const timestamp = z.int().describe('Milliseconds since the Unix epoch.');

export const agentRef = z
  .object({ id: z.string().meta({ pattern: '^agt_' }), canonical_handle: z.string() })
  .describe('An agent by id and handle.');

/** Agent record of interface.md, then the additions of the contract, section 2. */
export const agentSchema = z
  .object({
    id: z.string().meta({ pattern: '^agt_' }),
    canonical_handle: z.string(),
    display_name: z.string(),
    description: z.string(),
    scope: z.enum(['personal', 'member', 'shared']),
    visibility: z.enum(['private', 'public']),
    inbound_policy: z.enum(['contacts_only', 'trusted_only', 'allowlist', 'open']),
    created_at: timestamp,
    updated_at: timestamp,
    card_body: z.string(),
    skills: z.array(z.object({ name: z.string(), description: z.string() })),
    can_initiate_threads: z.boolean(),
    paused: z.boolean(),
    is_online: z.boolean(),
  })
  .meta({ id: 'Agent' });

export type AgentRecord = z.infer<typeof agentSchema>;

interface AgentColumns extends Omit<AgentRecord, 'is_online'> {
  owner_id: string;
}

/** `is_online` comes from whoever knows the open streams. */
export function presentAgent(row: AgentColumns, is_online: boolean): AgentRecord {
  const {
    id,
    canonical_handle,
    display_name,
    description,
    scope,
    visibility,
    inbound_policy,
    created_at,
    updated_at,
  } = row;
  const { card_body, skills, can_initiate_threads, paused } = row;
  const identity = {
    id,
    canonical_handle,
    display_name,
    description,
    scope,
    visibility,
    inbound_policy,
    created_at,
    updated_at,
  };
  return { ...identity, card_body, skills, can_initiate_threads, paused, is_online };
}
