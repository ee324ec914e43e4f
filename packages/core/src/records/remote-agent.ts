import { z } from 'zod';
import { credentialKinds, type RemoteCard, remoteStates } from '../domain/remote.ts';
import { agentId, agentSchema, canonicalHandle, timestamp } from './agent.ts';
import { exampleAgents } from './examples.ts';

/** An agent of another system, as its owner sees it. */
export const remoteAgentSchema = z
  .object({
    id: agentId,
    canonical_handle: canonicalHandle,
    display_name: z.string().describe('From its card, or the name that its owner chose.'),
    description: z.string().describe('From its card.'),
    skills: agentSchema.shape.skills,
    provider: z.string().nullable().describe('The organization that its card names.'),
    card_url: z.string().describe('The address of its A2A card.'),
    state: z.enum(remoteStates).describe('Messages are sent only when it is ready.'),
    waiting_for: z
      .enum(['card', 'person'])
      .nullable()
      .describe(
        'card: it was not read yet, or its invitation was not redeemed yet. person: a person confirms the fingerprint in the console.',
      ),
    interface: z
      .object({
        url: z.string().describe('The address.'),
        binding: z.enum(['JSONRPC', 'HTTP+JSON']).describe('The binding of A2A.'),
        version: z.enum(['1.0', '0.3']).describe('The version of A2A.'),
      })
      .nullable()
      .describe('Where messages go, and how.'),
    token_url: z.string().nullable().describe('Where its card says that programs get their tokens.'),
    signed_by: z
      .array(z.string())
      .describe('SHA-256 thumbprints of the keys that sign its card (RFC 7638). Empty: it is not signed.'),
    fingerprint: z
      .string()
      .nullable()
      .describe('Of the address of the card, its keys, and the origins where messages and secrets go.'),
    confirmed_fingerprint: z.string().nullable().describe('The fingerprint that a person has confirmed.'),
    credential: z
      .enum(credentialKinds)
      .describe('How this service signs in there. invitation: with a token of the other installation.'),
    only_with: canonicalHandle
      .nullable()
      .describe(
        'The agent here that it was connected with by an invitation. null: all agents of its owner can write to it.',
      ),
    card_error: z.string().nullable().describe('Why its card could not be read.'),
    last_delivered_at: timestamp.nullable().describe('When it last accepted a message.'),
    last_error: z.string().nullable().describe('Why the last message could not be delivered.'),
    failing_since: timestamp.nullable().describe('Since when no message could be delivered.'),
    expires_at: timestamp.nullable().describe('When it is removed unless a person has confirmed it.'),
    created_at: timestamp,
  })
  .meta({ id: 'RemoteAgent' })
  .describe('An agent of another system, which is reached over A2A.');

export type RemoteAgentRecord = z.infer<typeof remoteAgentSchema>;

interface Identity {
  fingerprint: string;
  thumbprints: string[];
  url: string;
  binding: 'JSONRPC' | 'HTTP+JSON';
  version: '1.0' | '0.3';
  token_url: string | null;
}

/** What the record is made of. */
export type RemoteAgentParts = Pick<
  RemoteAgentRecord,
  | 'canonical_handle'
  | 'display_name'
  | 'description'
  | 'skills'
  | 'card_url'
  | 'state'
  | 'card_error'
  | 'last_delivered_at'
  | 'last_error'
  | 'failing_since'
  | 'expires_at'
  | 'created_at'
> & {
  agent_id: string;
  card: RemoteCard | null;
  identity: Identity | null;
  confirmed: Identity | null;
  credential_kind: RemoteAgentRecord['credential'];
  bound_handle: string | null;
};

/** Returns the record of an agent of another system, without its credential. */
export function presentRemoteAgent(row: RemoteAgentParts): RemoteAgentRecord {
  const { agent_id, card, identity, confirmed, credential_kind, state, bound_handle } = row;
  const { canonical_handle, display_name, description, skills, card_url } = row;
  const { card_error, last_delivered_at, last_error, failing_since, expires_at, created_at } = row;
  return {
    id: agent_id,
    canonical_handle,
    display_name,
    description,
    skills,
    provider: card?.provider?.organization ?? null,
    card_url,
    state,
    waiting_for: state === 'ready' ? null : identity === null ? 'card' : 'person',
    interface: identity && { url: identity.url, binding: identity.binding, version: identity.version },
    token_url: identity?.token_url ?? null,
    signed_by: identity?.thumbprints ?? [],
    fingerprint: identity?.fingerprint ?? null,
    confirmed_fingerprint: confirmed?.fingerprint ?? null,
    credential: credential_kind,
    only_with: bound_handle,
    card_error,
    last_delivered_at,
    last_error,
    failing_since,
    expires_at,
    created_at,
  };
}

const fingerprint = 'J4rX6m0cV2pB1sD8kE7tQ5wY9uL3oN0aZ6hG2fR4iMw';

/** Added by your owner, and confirmed. */
export const exampleRemoteAgent: RemoteAgentRecord = {
  id: 'agt_01K9ZX4W8T1V5X7Y9Z1B3D4E5H',
  canonical_handle: `${exampleAgents.planner.canonical_handle.split('.')[0]}.freight`,
  display_name: 'Freight desk',
  description: 'Quotes and books freight.',
  skills: [{ name: 'quote', description: 'Names a price for a delivery.' }],
  provider: 'Umbrella Freight',
  card_url: 'https://freight.example/.well-known/agent-card.json',
  state: 'ready',
  waiting_for: null,
  interface: { url: 'https://freight.example/a2a', binding: 'JSONRPC', version: '1.0' },
  token_url: null,
  signed_by: ['NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'],
  fingerprint,
  confirmed_fingerprint: fingerprint,
  credential: 'bearer',
  only_with: null,
  card_error: null,
  last_delivered_at: 1_794_000_060_000,
  last_error: null,
  failing_since: null,
  expires_at: null,
  created_at: 1_793_000_000_000,
};
