import { repository, sql } from '../sql.ts';

/** An access token that is not revoked, and whose credential, grant and agent are active. It may be expired. */
export interface TokenRow {
  /** SHA-256 of the token. */
  token_hash: Buffer;
  agent_id: string;
  canonical_handle: string;
  owner_id: string;
  client_id: string;
  grant_id: string | null;
  resource: string;
  scopes: string[];
  expires_at: number;
  /** The record of the authorization server, without the token itself. */
  payload: Record<string, unknown>;
}

export interface NewToken {
  /** SHA-256 of the token. */
  token_hash: Buffer;
  agent_id: string;
  client_id: string;
  grant_id: string | null;
  /** SHA-256 of the secret of its credential when the client was authenticated; null for other clients. */
  secret_hash: Buffer | null;
  resource: string;
  scopes: readonly string[];
  payload: object;
  created_at: number;
  expires_at: number;
}

const removeBy = (column: string) =>
  sql.values<[value: string | Buffer], Buffer>(
    `tokens.remove_by_${column}`,
    `delete from access_tokens where ${column} = :value returning token_hash`,
  );

/** The token has no grant, or its grant exists: this covers tokens that were issued while the grant was removed. */
const isGrantActive = `(t.grant_id is null or (select true from client_grants g where g.grant_id = t.grant_id))`;

/**
 * `offset 0` makes the planner begin with the tokens. Without statistics it expects very few agents that are not retired, and would scan
 * them, and the requested tokens for each.
 */
const activeTokens = `access_tokens t
     cross join lateral (select canonical_handle, owner_id from agents where id = t.agent_id and retired_at is null offset 0) a
     left join lateral (select revoked_at from credentials where client_id = t.client_id offset 0) c on true`;

const selectTokens = (where: string) =>
  `select t.token_hash, t.agent_id, a.canonical_handle, a.owner_id, t.client_id, t.grant_id, t.resource, t.scopes, t.expires_at, t.payload
     from ${activeTokens}
     where ${where} and c.revoked_at is null and ${isGrantActive}`;

export const tokensRepository = repository({
  /** Returns false, and inserts nothing, when a rotation has ended the secret. The lock waits for one that is in progress. */
  insert: sql.hasRow<[token: NewToken]>(
    'tokens.insert',
    `insert into access_tokens (token_hash, agent_id, client_id, grant_id, resource, scopes, payload, created_at, expires_at)
       select :token_hash, :agent_id, :client_id, :grant_id, :resource, :scopes, :payload, :created_at, :expires_at
       where :secret_hash::bytea is null or exists (
         select from credentials where client_id = :client_id and :secret_hash in (secret_hash, previous_secret_hash) for share)
       returning 1`,
  ),
  /** A token that is not revoked; it may be expired. */
  find: sql.row<[tokenHash: Buffer], TokenRow>('tokens.find', selectTokens('t.token_hash = :token_hash')),
  /** As find for several tokens, in no order. */
  findAll: sql.rows<[tokenHashes: readonly Buffer[]], TokenRow>(
    'tokens.find_all',
    selectTokens('t.token_hash = any(:token_hashes::bytea[])'),
  ),
  /** The hashes of those tokens that are valid at `time` (ms). */
  listValid: sql.values<[tokenHashes: readonly Buffer[], time: number], Buffer>(
    'tokens.list_valid(token_hashes, time)',
    `select t.token_hash
       from ${activeTokens}
       where t.token_hash = any(:token_hashes::bytea[]) and t.expires_at > :time and c.revoked_at is null
         and ${isGrantActive}`,
  ),
  /** Removes up to `limit` tokens that expired before `time` (ms); returns how many. */
  removeExpired: sql.rowCount<[time: number, limit: number]>(
    'tokens.remove_expired(time, limit)',
    `delete from access_tokens where token_hash in (select token_hash from access_tokens where expires_at < :time limit :limit)
       returning 1`,
  ),
  /** This and the next three return the hashes of the removed tokens. */
  remove: removeBy('token_hash'),
  removeOfAgent: removeBy('agent_id'),
  removeOfClient: removeBy('client_id'),
  removeOfGrant: removeBy('grant_id'),
});
