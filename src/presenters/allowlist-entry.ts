import { z } from 'zod';
import { timestamp } from './agent.ts';

/** An entry of an allowlist (contract, section 3). */
export const allowlistEntrySchema = z
  .object({
    entry: z.string().describe('The handle of an agent, or owner.* for every agent of an owner.'),
    created_at: timestamp,
  })
  .meta({ id: 'AllowlistEntry' })
  .describe('Somebody who may write to you.');

export type AllowlistEntryRecord = z.infer<typeof allowlistEntrySchema>;
