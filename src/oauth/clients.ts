import { createHash, timingSafeEqual } from 'node:crypto';
import type { AdapterPayload, Client } from 'oidc-provider';
import { z } from 'zod';
import type { ClientRecord } from './storage.ts';

/** What we keep with a client besides the standard's fields. */
export const ownClientFields = ['agent_id', 'agent_handle', 'agent_scopes'];

/** The provider's view of a confidential client. Its `client_secret` is the hash of the secret: nobody has the secret itself. */
export function clientMetadata(client: ClientRecord): AdapterPayload {
  return {
    client_id: client.client_id,
    client_secret: client.secret_hash.toString('base64url'),
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    agent_id: client.agent_id,
    agent_handle: client.canonical_handle,
    agent_scopes: client.scopes.join(' '),
  };
}

/** Whether a secret is the one whose hash stands in the client's metadata; takes the same time for every wrong one. */
export function isSecretOf(client: Client, secret: string): boolean {
  const expected = Buffer.from(client.clientSecret ?? '', 'base64url');
  const given = createHash('sha256').update(secret).digest();
  return expected.length === given.length && timingSafeEqual(expected, given);
}

const boundClient = z.object({ agent_id: z.string(), agent_handle: z.string(), agent_scopes: z.string() });

/** The agent that a client acts as, and the scopes that it may have. */
export function agentOf(client: Client) {
  const { agent_id, agent_handle, agent_scopes } = boundClient.parse(client);
  return { agent_id, agent_handle, scopes: agent_scopes.split(' ') };
}
