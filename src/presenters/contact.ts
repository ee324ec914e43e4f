import { z } from 'zod';
import { timestamp } from './agent.ts';

/** Contact record (contract, section 3). */
export const contactSchema = z
  .object({
    agent_id: z.string().meta({ pattern: '^agt_' }),
    canonical_handle: z.string(),
    display_name: z.string(),
    favorite: z.boolean(),
    is_online: z.boolean(),
    since: timestamp,
  })
  .meta({ id: 'Contact' });

export type ContactRecord = z.infer<typeof contactSchema>;

export type ContactColumns = Omit<ContactRecord, 'is_online'>;

/** `is_online` comes from whoever knows the open streams. */
export function presentContact(row: ContactColumns, is_online: boolean): ContactRecord {
  const { agent_id, canonical_handle, display_name, favorite, since } = row;
  return { agent_id, canonical_handle, display_name, favorite, is_online, since };
}

const party = z.object({
  id: z.string().meta({ pattern: '^agt_' }),
  canonical_handle: z.string(),
  display_name: z.string(),
});

/** ContactRequest record (contract, section 3). */
export const contactRequestSchema = z
  .object({
    request_id: z.string().meta({ pattern: '^creq_' }),
    from: party,
    to: party,
    message: z.string().nullable(),
    status: z.enum(['pending', 'approved', 'rejected']),
    created_at: timestamp,
  })
  .meta({ id: 'ContactRequest' });

export type ContactRequestRecord = z.infer<typeof contactRequestSchema>;

/** Takes what is shown from a row that may hold more. */
export function presentContactRequest(row: ContactRequestRecord): ContactRequestRecord {
  const { request_id, from, to, message, status, created_at } = row;
  return { request_id, from, to, message, status, created_at };
}
