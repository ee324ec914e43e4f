import { z } from 'zod';
import type { JobContract } from './define.ts';

/** Tell every agent concerned that its feed has grown. The subjects are events. */
export const delivery: JobContract<{ version: 1; ids: string[] }> = {
  name: 'deliver-events',
  queue: 'delivery',
  payload: z.object({ version: z.literal(1), ids: z.array(z.string()).min(1) }),
  attempts: 5,
  backoff_ms: 200,
};
