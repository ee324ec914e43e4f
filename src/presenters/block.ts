import { z } from 'zod';
import { timestamp } from './agent.ts';

/** Block record (contract, section 3). */
export const blockSchema = z
  .object({
    blocked_agent_id: z.string().meta({ pattern: '^agt_' }),
    blocked_handle: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'Block' });

export type BlockRecord = z.infer<typeof blockSchema>;
