import { z } from 'zod';
import type { JobContract } from './define.ts';

/** Look at uploaded bytes before anybody may download them. The subjects are attachments. */
export const attachmentScanning: JobContract<{ version: 1; ids: string[] }> = {
  name: 'scan-attachments',
  queue: 'attachment-scanning',
  payload: z.object({ version: z.literal(1), ids: z.array(z.string()).min(1) }),
  attempts: 5,
  backoff_ms: 1000,
};
