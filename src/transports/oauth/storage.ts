import type { Scope } from '../../domain/auth/scopes.ts';

/** A confidential client of one agent. */
export interface CredentialRecord {
  client_id: string;
  agent_id: string;
  canonical_handle: string;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  scopes: string[];
}

/** A client that registered itself (RFC 7591). */
export interface RegisteredClient {
  client_id: string;
  metadata: Record<string, unknown>;
}

export interface GrantRequest {
  account_id: string;
  agent_id: string;
  client_id: string;
  client_name: string | null;
  redirect_host: string;
  scopes: readonly Scope[];
}

export interface GrantRecord {
  grant_id: string;
  agent_id: string;
  client_id: string;
  scopes: string[];
}

/** What the authorization server needs of a store; it stores tokens, codes and ids as hashes only. Lives in seconds. */
export interface OAuthStorage {
  /** Undefined also for a revoked client and for one whose agent is retired. */
  findClient(clientId: string): Promise<CredentialRecord | RegisteredClient | undefined>;
  saveClient(client: RegisteredClient): Promise<void>;
  /** Undefined when it is retired. */
  findAgent(agentId: string): Promise<{ id: string; canonical_handle: string } | undefined>;
  saveToken(token: string, payload: object): Promise<void>;
  findToken(kind: string, token: string): Promise<object | undefined>;
  endToken(token: string): Promise<void>;
  /**
   * Notes what a person grants.
   * @throws {DomainError} AGENT_NOT_FOUND when the person may not act as the agent
   */
  openGrant(request: GrantRequest): Promise<{ grant_id: string }>;
  /** Whether somebody has connected this client. */
  isConnected(clientId: string): Promise<boolean>;
  /** Undefined when it ended, and while its person may not act as its agent. */
  findGrant(grantId: string): Promise<GrantRecord | undefined>;
  /** Ends a grant with its codes and tokens, in every process. */
  endGrant(grantId: string): Promise<void>;
  /** @param predecessor the id of the refresh token whose use it comes of. */
  saveRecord(
    model: string,
    id: string,
    payload: object,
    life_s?: number,
    predecessor?: string,
  ): Promise<void>;
  findRecord(model: string, id: string): Promise<object | undefined>;
  /** False when it may be used no more, since it was consumed before or meanwhile: its grant, if it has one, is ended then. */
  consumeRecord(model: string, id: string): Promise<boolean>;
  /** Whether it was there: of several at once, one hears yes. */
  removeRecord(model: string, id: string): Promise<boolean>;
}
