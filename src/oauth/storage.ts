/** A confidential client of one agent. */
export interface ClientRecord {
  client_id: string;
  agent_id: string;
  canonical_handle: string;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  scopes: string[];
}

/** What the authorization server needs of a store; it stores tokens, codes and ids as hashes only. Lives in seconds. */
export interface OAuthStorage {
  /** Undefined also for a revoked client and for one whose agent is retired. */
  findClient(clientId: string): Promise<ClientRecord | undefined>;
  saveToken(token: string, payload: object): Promise<void>;
  findToken(kind: string, token: string): Promise<object | undefined>;
  endToken(token: string): Promise<void>;
  endTokensOfGrant(grantId: string): Promise<void>;
  saveRecord(model: string, id: string, payload: object, life_s?: number): Promise<void>;
  findRecord(model: string, id: string): Promise<object | undefined>;
  consumeRecord(model: string, id: string): Promise<void>;
  removeRecord(model: string, id: string): Promise<void>;
  removeRecordsOfGrant(model: string, grantId: string): Promise<void>;
}
