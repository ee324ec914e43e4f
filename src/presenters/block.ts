import { z } from 'zod';
import { agentId, canonicalHandle, timestamp } from './agent.ts';

/** Block record (contract, section 3). */
export const blockSchema = z
  .object({
    blocked_agent_id: agentId,
    blocked_handle: canonicalHandle,
    created_at: timestamp,
  })
  .meta({ id: 'Block' })
  .describe('An agent that cannot reach you.');

export type BlockRecord = z.infer<typeof blockSchema>;
