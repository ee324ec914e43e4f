import { z } from 'zod';
import type { JobContract } from './define.ts';

/** Write the search rows of messages. The subjects are messages. */
export const searchIndexing: JobContract<{ version: 1; ids: string[] }> = {
  name: 'index-messages',
  queue: 'search-indexing',
  payload: z.object({ version: z.literal(1), ids: z.array(z.string()).min(1) }),
  attempts: 5,
  backoff_ms: 1000,
};
