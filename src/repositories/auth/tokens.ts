import { type Queryable, statement, query } from '../queryable.ts';

/** An access token that is neither revoked nor of a revoked credential, an ended grant or a retired agent. It may be expired. */
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
  /** What the authorization server wrote of it, without the token. */
  payload: Record<string, unknown>;
}

export interface NewToken {
  /** SHA-256 of the token. */
  token_hash: Buffer;
  agent_id: string;
  client_id: string;
  grant_id: string | null;
  resource: string;
  scopes: readonly string[];
  payload: object;
  created_at: number;
  expires_at: number;
}

const removalBy = (column: string) =>
  statement(
    `tokens.remove_by_${column}`,
    `delete from access_tokens where ${column} = :value returning token_hash`,
  );

/** A token that a person's grant is behind ends with it, also one that was issued while the grant ended. */
const isGrantActive = `(t.grant_id is null or (select true from client_grants g where g.grant_id = t.grant_id))`;

/**
 * The planner must begin with the tokens and look the rest up (offset 0). Of a table without statistics it expects that hardly any
 * agent is not retired, and would look through all of them, and for each through all tokens that are asked for.
 */
const activeTokens = `access_tokens t
     cross join lateral (select canonical_handle, owner_id from agents where id = t.agent_id and retired_at is null offset 0) a
     left join lateral (select revoked_at from credentials where client_id = t.client_id offset 0) c on true`;

const selectTokens = (where: string) =>
  `select t.token_hash, t.agent_id, a.canonical_handle, a.owner_id, t.client_id, t.grant_id, t.resource, t.scopes, t.expires_at, t.payload
     from ${activeTokens}
     where ${where} and c.revoked_at is null and ${isGrantActive}`;

const statements = {
  insert: statement(
    'tokens.insert',
    `insert into access_tokens (token_hash, agent_id, client_id, grant_id, resource, scopes, payload, created_at, expires_at)
     values (:token_hash, :agent_id, :client_id, :grant_id, :resource, :scopes, :payload, :created_at, :expires_at)`,
  ),
  find: statement('tokens.find', selectTokens('t.token_hash = :token_hash')),
  findAll: statement('tokens.find_all', selectTokens('t.token_hash = any(:token_hashes::bytea[])')),
  listValid: statement(
    'tokens.good',
    `select t.token_hash
     from ${activeTokens}
     where t.token_hash = any(:token_hashes::bytea[]) and t.expires_at > :time and c.revoked_at is null
       and ${isGrantActive}`,
  ),
  removeExpired: statement(
    'tokens.remove_expired',
    `delete from access_tokens where token_hash in (select token_hash from access_tokens where expires_at < :time limit :limit)
     returning 1`,
  ),
  remove: removalBy('token_hash'),
  removeOfAgent: removalBy('agent_id'),
  removeOfClient: removalBy('client_id'),
  removeOfGrant: removalBy('grant_id'),
};

export function tokensRepository(db: Queryable) {
  const removeWhere = (by: (typeof statements)['remove']) => async (value: string | Buffer) =>
    (await query<{ token_hash: Buffer }>(db, by, { value })).map((row) => row.token_hash);

  return {
    async insert(token: NewToken): Promise<void> {
      const { token_hash, agent_id, client_id, grant_id, resource } = token;
      const { scopes, payload, created_at, expires_at } = token;
      const bound = { token_hash, agent_id, client_id, grant_id, resource };
      await query(db, statements.insert, { ...bound, scopes, payload, created_at, expires_at });
    },
    async find(tokenHash: Buffer): Promise<TokenRow | undefined> {
      return (await query<TokenRow>(db, statements.find, { token_hash: tokenHash }))[0];
    },
    /** The same of many, in no order. */
    findAll(tokenHashes: readonly Buffer[]): Promise<TokenRow[]> {
      return query<TokenRow>(db, statements.findAll, { token_hashes: tokenHashes });
    },
    /** Which of these tokens are good at `time` (ms). */
    async listValid(tokenHashes: readonly Buffer[], time: number): Promise<Buffer[]> {
      const rows = await query<{ token_hash: Buffer }>(db, statements.listValid, {
        token_hashes: tokenHashes,
        time,
      });
      return rows.map((row) => row.token_hash);
    },
    /** These four answer the hashes of the tokens that ended. */
    remove: removeWhere(statements.remove),
    removeOfAgent: removeWhere(statements.removeOfAgent),
    removeOfClient: removeWhere(statements.removeOfClient),
    removeOfGrant: removeWhere(statements.removeOfGrant),
    /** Removes up to `limit` tokens that expired before `time` (ms); answers how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await query(db, statements.removeExpired, { time, limit })).length;
    },
  };
}
