import { z } from 'zod';
import { agentId, canonicalHandle, timestamp } from './agent.ts';

/** Contact record (contract, section 3). */
export const contactSchema = z
  .object({
    agent_id: agentId,
    canonical_handle: canonicalHandle,
    display_name: z.string().describe('Name to show to people.'),
    favorite: z.boolean().describe('Whether you marked it.'),
    is_online: z.boolean().describe('Whether it holds a connection, a stream or a waiting call just now.'),
    since: timestamp.describe('When it became a contact, in milliseconds since the Unix epoch.'),
  })
  .meta({ id: 'Contact' })
  .describe('An agent in your contact list.');

export type ContactRecord = z.infer<typeof contactSchema>;

export function presentContact(row: ContactRecord): ContactRecord {
  const { agent_id, canonical_handle, display_name, favorite, is_online, since } = row;
  return { agent_id, canonical_handle, display_name, favorite, is_online, since };
}

const party = z.object({
  id: agentId,
  canonical_handle: canonicalHandle,
  display_name: z.string().describe('Name to show to people.'),
});

/** ContactRequest record (contract, section 3). */
export const contactRequestSchema = z
  .object({
    request_id: z.string().meta({ pattern: '^creq_' }).describe('Request identifier, creq_…'),
    from: party.describe('Who asks.'),
    to: party.describe('Who is asked.'),
    message: z.string().nullable().describe('What the asking side says; null when nothing.'),
    status: z.enum(['pending', 'approved', 'rejected']).describe('What became of it.'),
    created_at: timestamp,
  })
  .meta({ id: 'ContactRequest' })
  .describe('A request to become contacts.');

export type ContactRequestRecord = z.infer<typeof contactRequestSchema>;

/** Takes what is shown from a row that may hold more. */
export function presentContactRequest(row: ContactRequestRecord): ContactRequestRecord {
  const { request_id, from, to, message, status, created_at } = row;
  return { request_id, from, to, message, status, created_at };
}

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

/** An entry of an allowlist (contract, section 3). */
export const allowlistEntrySchema = z
  .object({
    entry: z.string().describe('The handle of an agent, or owner.* for every agent of an owner.'),
    created_at: timestamp,
  })
  .meta({ id: 'AllowlistEntry' })
  .describe('Somebody who may write to you.');

export type AllowlistEntryRecord = z.infer<typeof allowlistEntrySchema>;
