import { createHash, timingSafeEqual } from 'node:crypto';
import type { AdapterPayload, Client } from 'oidc-provider';
import { z } from 'zod';
import type { CredentialRecord, OAuthStorage, RegisteredClient } from '../storage.ts';

/** What we keep with a confidential client besides the standard's fields. */
export const customClientFields = ['agent_id', 'agent_handle', 'agent_scopes'];

/** The provider's view of a client that is kept in the storage. */
export async function clientMetadata(
  storage: Pick<OAuthStorage, 'findClient'>,
  clientId: string,
): Promise<AdapterPayload | undefined> {
  const client = await storage.findClient(clientId);
  if (!client) return undefined;
  return 'metadata' in client ? registeredMetadata(client) : credentialMetadata(client);
}

function registeredMetadata({ client_id, metadata }: RegisteredClient): AdapterPayload {
  return { ...metadata, client_id };
}

/** A confidential client. Its `client_secret` is the hash of the secret: nobody has the secret itself. */
function credentialMetadata(client: CredentialRecord): AdapterPayload {
  return {
    client_id: client.client_id,
    client_secret: client.secret_hash.toString('base64url'),
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    agent_id: client.agent_id,
    agent_handle: client.canonical_handle,
    agent_scopes: client.scopes.join(' '),
  };
}

/** Whether a secret is the one whose hash stands in the client's metadata; takes the same time for every wrong one. */
export function isClientSecret(client: Client, secret: string): boolean {
  const expected = Buffer.from(client.clientSecret ?? '', 'base64url');
  const given = createHash('sha256').update(secret).digest();
  return expected.length === given.length && timingSafeEqual(expected, given);
}

const boundClientSchema = z.object({
  agent_id: z.string(),
  agent_handle: z.string(),
  agent_scopes: z.string(),
});

/** The agent that a confidential client acts as, and the scopes that it may have; undefined for a client of people. */
export function agentOf(client: Client) {
  const bound = boundClientSchema.safeParse(client);
  if (!bound.success) return undefined;
  const { agent_id, agent_handle, agent_scopes } = bound.data;
  return { agent_id, agent_handle, scopes: agent_scopes.split(' ') };
}
