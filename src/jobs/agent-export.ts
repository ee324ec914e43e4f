import { z } from 'zod';
import { exportJob } from '../domain/agents/erasure-and-export.ts';
import type { JobContract } from './define.ts';

/** Gather what is held of agents, as far as their exports have not come yet. The subjects are exports. */
export const agentExport: JobContract<{ version: 1; ids: string[] }> = {
  name: exportJob,
  queue: 'agent-export',
  payload: z.object({ version: z.literal(1), ids: z.array(z.string()).min(1) }),
  attempts: 5,
  backoff_ms: 1000,
};
