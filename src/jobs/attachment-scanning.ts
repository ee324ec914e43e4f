import { z } from 'zod';
import { scanJob } from '../domain/attachments/attachments.ts';
import type { JobContract } from './define.ts';

/** Look at uploaded bytes before anybody may download them. The subjects are attachments. */
export const attachmentScanning: JobContract<{ version: 1; ids: string[] }> = {
  name: scanJob,
  queue: 'attachment-scanning',
  payload: z.object({ version: z.literal(1), ids: z.array(z.string()).min(1) }),
  attempts: 5,
  backoff_ms: 1000,
};
