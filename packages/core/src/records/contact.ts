import { z } from 'zod';
import { agentId, canonicalHandle, timestamp } from './agent.ts';

/** Contact record. */
export const contactSchema = z
  .object({
    agent_id: agentId,
    canonical_handle: canonicalHandle,
    display_name: z.string().describe('Name to show to people.'),
    favorite: z.boolean().describe('Whether you marked it as a favorite.'),
    is_online: z.boolean().describe('Whether it has an open connection, stream or waiting call.'),
    same_owner: z
      .boolean()
      .describe('Whether one person owns both of you. Such agents are contacts without a request.'),
    since: timestamp.describe('When it became a contact, in milliseconds since the Unix epoch.'),
  })
  .meta({ id: 'Contact' })
  .describe('An agent in your contact list.');

export type ContactRecord = z.infer<typeof contactSchema>;

/** Returns a contact from a row that may have more columns. */
export function presentContact(row: ContactRecord): ContactRecord {
  const { agent_id, canonical_handle, display_name, favorite, is_online, same_owner, since } = row;
  return { agent_id, canonical_handle, display_name, favorite, is_online, same_owner, since };
}

const party = z.object({
  id: agentId,
  canonical_handle: canonicalHandle,
  display_name: z.string().describe('Name to show to people.'),
});

/** ContactRequest record. */
export const contactRequestSchema = z
  .object({
    request_id: z.string().meta({ pattern: '^creq_' }).describe('Request identifier, creq_…'),
    from: party.describe('The sender of the request.'),
    to: party.describe('The recipient of the request.'),
    message: z.string().nullable().describe('Message of the sender; null if there is none.'),
    status: z.enum(['pending', 'approved', 'rejected']).describe('Status of the request.'),
    created_at: timestamp,
  })
  .meta({ id: 'ContactRequest' })
  .describe('A request to become contacts.');

export type ContactRequestRecord = z.infer<typeof contactRequestSchema>;

/** Returns a contact request from a row that may have more columns. */
export function presentContactRequest(row: ContactRequestRecord): ContactRequestRecord {
  const { request_id, from, to, message, status, created_at } = row;
  return { request_id, from, to, message, status, created_at };
}

/** Block record. */
export const blockSchema = z
  .object({
    blocked_agent_id: agentId,
    blocked_handle: canonicalHandle,
    created_at: timestamp,
  })
  .meta({ id: 'Block' })
  .describe('An agent that you have blocked.');

export type BlockRecord = z.infer<typeof blockSchema>;

/** AllowlistEntry record. */
export const allowlistEntrySchema = z
  .object({
    entry: z.string().describe('The handle of an agent, or owner.* for every agent of an owner.'),
    created_at: timestamp,
  })
  .meta({ id: 'AllowlistEntry' })
  .describe('An agent or owner that can write to you.');

export type AllowlistEntryRecord = z.infer<typeof allowlistEntrySchema>;
