import { z } from 'zod';
import { erasureJob } from '../domain/agents/erasure-and-export.ts';
import type { JobContract } from './define.ts';

/** Take agents out of the service, as far as their erasures have not come yet. The subjects are erasures. */
export const agentErasure: JobContract<{ version: 1; ids: string[] }> = {
  name: erasureJob,
  queue: 'agent-erasure',
  payload: z.object({ version: z.literal(1), ids: z.array(z.string()).min(1) }),
  attempts: 5,
  backoff_ms: 1000,
};
