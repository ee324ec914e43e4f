import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';

/** A confidential client of one agent. */
export interface CredentialRecord {
  client_id: string;
  agent_id: string;
  canonical_handle: string;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  /** SHA-256 of the secret before the last rotation. */
  previous_secret_hash: Buffer | null;
  /** Until when the previous secret counts (ms). */
  previous_secret_until: number | null;
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

export interface DecisionRecord {
  account_id: string;
  /** Null if the person denied the request. */
  grantId: string | null;
  /** The app as the consent page names it, and the agent as which it may act. */
  app: string;
  handle: string | null;
}

export interface GrantRecord {
  grant_id: string;
  agent_id: string;
  client_id: string;
  scopes: string[];
}

/** The storage of the authorization server. Tokens, codes and ids are stored as hashes. Lifetimes are in seconds. */
export interface OAuthStorage {
  /** Undefined also for a revoked client or a deleted agent. */
  findClient(clientId: string): Promise<CredentialRecord | RegisteredClient | undefined>;
  saveClient(client: RegisteredClient): Promise<void>;
  /** Undefined also for a deleted agent. */
  findAgent(agentId: string): Promise<{ id: string; canonical_handle: string } | undefined>;
  saveToken(token: string, payload: object): Promise<void>;
  findToken(kind: string, token: string): Promise<object | undefined>;
  endToken(token: string): Promise<void>;
  /**
   * Stores a grant.
   * @throws {DomainError} AGENT_NOT_FOUND if the person may not act as the agent
   */
  openGrant(request: GrantRequest): Promise<{ grant_id: string }>;
  /** Whether the client has a grant of any person. */
  isConnected(clientId: string): Promise<boolean>;
  /** Undefined if it has ended or its person may not act as the agent. */
  findGrant(grantId: string): Promise<GrantRecord | undefined>;
  /** Ends a grant with its codes and tokens, in every process. */
  endGrant(grantId: string): Promise<void>;
  /** @param predecessor id of the rotated refresh token. */
  saveRecord(
    model: string,
    id: string,
    payload: object,
    life_s?: number,
    predecessor?: string,
  ): Promise<void>;
  /**
   * Saves the decision of a person about an authorization request, as the record `Decision`. Of concurrent calls only one returns
   * true. It ends with its grant.
   */
  addDecision(uid: string, decision: DecisionRecord): Promise<boolean>;
  findRecord(model: string, id: string): Promise<object | undefined>;
  /** Returns false if the record was already consumed; its grant then ends. */
  consumeRecord(model: string, id: string): Promise<boolean>;
  /** Whether the record existed. Of concurrent calls only one returns true. */
  removeRecord(model: string, id: string): Promise<boolean>;
}
