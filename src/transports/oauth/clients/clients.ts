import { createHash, timingSafeEqual } from 'node:crypto';
import type { AdapterPayload, Client } from 'oidc-provider';
import { z } from 'zod';
import {
  commandLineClient,
  isOwnClient,
  referenceClient,
  referencePath,
} from '../../http/authorization-requests.ts';
import type { OAuthStorage } from '../../../services/auth/oauth-storage.ts';

type StoredClient = NonNullable<Awaited<ReturnType<OAuthStorage['findClient']>>>;
/** A client that registered itself (RFC 7591). */
type RegisteredClient = Extract<StoredClient, { metadata: unknown }>;

/** Non-standard fields of confidential clients. */
export const customClientFields = ['agent_id', 'agent_handle', 'agent_scopes', 'agent_previous_secret'];

/** The provider metadata of a stored client or of the service's own one; undefined if it is unknown. */
export async function clientMetadata(
  storage: Pick<OAuthStorage, 'findClient'>,
  clientId: string,
  issuer: string,
): Promise<AdapterPayload | undefined> {
  if (isOwnClient(clientId)) return ownMetadata(clientId, issuer);
  const client = await storage.findClient(clientId);
  if (!client) return undefined;
  return 'metadata' in client ? registeredMetadata(client) : credentialMetadata(client);
}

function ownMetadata(clientId: string, issuer: string): AdapterPayload {
  const reference = { ...referenceClient, redirect_uris: [`${issuer}${referencePath}`] };
  return structuredClone<AdapterPayload>(
    clientId === commandLineClient.client_id ? { ...commandLineClient } : reference,
  );
}

function registeredMetadata({ client_id, metadata }: RegisteredClient): AdapterPayload {
  return { ...metadata, client_id };
}

/** Metadata of a confidential client. Its secrets are hashes. */
function credentialMetadata(client: Exclude<StoredClient, RegisteredClient>): AdapterPayload {
  const { previous_secret_hash, previous_secret_until } = client;
  const hasPrevious = previous_secret_hash !== null && (previous_secret_until ?? 0) > Date.now();
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
    ...(hasPrevious && { agent_previous_secret: previous_secret_hash.toString('base64url') }),
  };
}

/** Metadata to store: a secret only as its hash. */
export function hashSecret(metadata: Record<string, unknown>): Record<string, unknown> {
  const { client_secret } = metadata;
  return typeof client_secret === 'string'
    ? { ...metadata, client_secret: sha256(client_secret).toString('base64url') }
    : metadata;
}

function sha256(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Compares a secret with the hashes in the client metadata, in constant time. */
export function isClientSecret(client: Client, secret: string): boolean {
  const actual = sha256(secret);
  return [client.clientSecret, client['agent_previous_secret']].some((hash) => {
    const expected = Buffer.from(typeof hash === 'string' ? hash : '', 'base64url');
    return expected.length === actual.length && timingSafeEqual(expected, actual);
  });
}

const boundClientSchema = z.object({
  agent_id: z.string(),
  agent_handle: z.string(),
  agent_scopes: z.string(),
});

/** The agent and allowed scopes of a confidential client; undefined for public clients. */
export function agentOf(client: Client) {
  const bound = boundClientSchema.safeParse(client);
  if (!bound.success) return undefined;
  const { agent_id, agent_handle, agent_scopes } = bound.data;
  return { agent_id, agent_handle, scopes: agent_scopes.split(' ') };
}
