import { type Queryable, statement, query } from '../queryable.ts';

/** A confidential client of one agent. Times are in milliseconds. */
export interface CredentialRow {
  client_id: string;
  agent_id: string;
  canonical_handle: string;
  /** A label for people; can be empty. */
  name: string;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  scopes: string[];
  created_at: number;
  /** When a token was last issued for it. */
  last_used_at: number | null;
  revoked_at: number | null;
  /** When the secret was last rotated. */
  rotated_at: number | null;
  /** SHA-256 of the secret before the last rotation. */
  previous_secret_hash: Buffer | null;
  /** Until when the previous secret counts. */
  previous_secret_until: number | null;
}

export interface CredentialRotation {
  client_id: string;
  /** The agent that it must belong to; null: any agent. */
  agent_id: string | null;
  /** When it was last rotated, as the caller knows; undefined if that does not matter. */
  seen?: number | null | undefined;
  secret_hash: Buffer;
  /** Null: the previous secret no longer counts. */
  previous_secret_until: number | null;
  now: number;
}

export interface NewCredential {
  client_id: string;
  agent_id: string;
  name: string;
  secret_hash: Buffer;
  scopes: readonly string[];
  created_at: number;
}

const columns = `c.client_id, c.agent_id, a.canonical_handle, c.name, c.secret_hash, c.scopes, c.created_at,
  c.last_used_at, c.revoked_at, c.rotated_at, c.previous_secret_hash, c.previous_secret_until`;

/** A use of a credential is recorded at most once a minute. */
const minUseIntervalMs = 60_000;

const statements = {
  insert: statement(
    'credentials.insert',
    `insert into credentials (client_id, agent_id, name, secret_hash, scopes, created_at)
     values (:client_id, :agent_id, :name, :secret_hash, :scopes, :created_at) on conflict (client_id) do nothing returning client_id`,
  ),
  countActive: statement(
    'credentials.count_active',
    `select count(*)::int as count from credentials where agent_id = :agent_id and revoked_at is null`,
  ),
  findOfAgent: statement(
    'credentials.find_of_agent',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id where c.agent_id = :agent_id and c.client_id = :client_id`,
  ),
  page: statement(
    'credentials.page',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id
     where c.agent_id = :agent_id and (c.revoked_at is null) = :active and (:before::text is null or (c.created_at, c.client_id) <
       (select b.created_at, b.client_id from credentials b where b.client_id = :before and b.agent_id = :agent_id))
     order by c.created_at desc, c.client_id desc limit :limit`,
  ),
  findActive: statement(
    'credentials.find_active',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id and a.retired_at is null
     where c.client_id = :client_id and c.revoked_at is null`,
  ),
  list: statement(
    'credentials.list',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id
     where c.agent_id = :agent_id order by c.created_at, c.client_id`,
  ),
  recordUse: statement(
    'credentials.record_use',
    `update credentials set last_used_at = :now
     where client_id = :client_id and (last_used_at is null or last_used_at < :now::bigint - ${minUseIntervalMs})`,
  ),
  revoke: statement(
    'credentials.revoke',
    `update credentials set revoked_at = :revoked_at
     where client_id = :client_id and (:agent_id::text is null or agent_id = :agent_id) and revoked_at is null returning agent_id`,
  ),
  rotate: statement(
    'credentials.rotate',
    `update credentials set secret_hash = :secret_hash, rotated_at = :now, previous_secret_until = :previous_secret_until::bigint,
       previous_secret_hash = case when :previous_secret_until::bigint is not null then secret_hash end
     where client_id = :client_id and (:agent_id::text is null or agent_id = :agent_id) and revoked_at is null
       and (:seen::bigint is null or coalesce(rotated_at, 0) = :seen) returning agent_id`,
  ),
  revokeOfAgent: statement(
    'credentials.revoke_of_agent',
    `update credentials set revoked_at = :revoked_at where agent_id = :agent_id and revoked_at is null`,
  ),
  revokeOfMember: statement(
    'credentials.revoke_of_member',
    `update credentials c set revoked_at = :revoked_at from agents a
     where a.owner_id = :organization_id and a.member_account_id = :account_id and c.agent_id = a.id and c.revoked_at is null
     returning c.client_id`,
  ),
};

export function credentialsRepository(db: Queryable) {
  return {
    /** Returns false, and inserts nothing, when the client_id exists. */
    async insert(credential: NewCredential): Promise<boolean> {
      const { client_id, agent_id, name, secret_hash, scopes, created_at } = credential;
      const values = { client_id, agent_id, name, secret_hash, scopes, created_at };
      return (await query(db, statements.insert, values)).length > 0;
    },
    /** The number of an agent's credentials that are not revoked. */
    async countActive(agentId: string): Promise<number> {
      return (
        (await query<{ count: number }>(db, statements.countActive, { agent_id: agentId }))[0]?.count ?? 0
      );
    },
    /** Also finds a revoked credential. */
    async findOfAgent(agentId: string, clientId: string): Promise<CredentialRow | undefined> {
      return (
        await query<CredentialRow>(db, statements.findOfAgent, { agent_id: agentId, client_id: clientId })
      )[0];
    },
    /** The active or the revoked credentials of an agent, newest first, older than the client_id `before` unless it is null. */
    page(
      agentId: string,
      { active, before, limit }: { active: boolean; before: string | null; limit: number },
    ): Promise<CredentialRow[]> {
      return query<CredentialRow>(db, statements.page, {
        agent_id: agentId,
        active: active,
        before: before,
        limit: limit,
      });
    },
    /** A credential that is not revoked, of an agent that is not retired. */
    async findActive(clientId: string): Promise<CredentialRow | undefined> {
      return (await query<CredentialRow>(db, statements.findActive, { client_id: clientId }))[0];
    },
    /** All credentials of an agent, including revoked ones, oldest first. */
    list(agentId: string): Promise<CredentialRow[]> {
      return query<CredentialRow>(db, statements.list, { agent_id: agentId });
    },
    /** Records that a token was issued. */
    async recordUse(clientId: string, now: number): Promise<void> {
      await query(db, statements.recordUse, { client_id: clientId, now });
    },
    /** Returns the id of its agent; undefined when there is no such active credential, or it is not of `agentId` unless that is null. */
    async revoke(clientId: string, revokedAt: number, agentId: string | null): Promise<string | undefined> {
      const values = { client_id: clientId, revoked_at: revokedAt, agent_id: agentId };
      return (await query<{ agent_id: string }>(db, statements.revoke, values))[0]?.agent_id;
    },
    /**
     * Replaces the secret. Returns the id of the agent; undefined when there is no such active credential, it is of another agent, or it was
     * rotated meanwhile.
     */
    async rotate({ seen, ...rotation }: CredentialRotation): Promise<string | undefined> {
      const values = { ...rotation, seen: seen === undefined ? null : (seen ?? 0) };
      return (await query<{ agent_id: string }>(db, statements.rotate, values))[0]?.agent_id;
    },
    /** Revokes all credentials of an agent. */
    async revokeOfAgent(agentId: string, revokedAt: number): Promise<void> {
      await query(db, statements.revokeOfAgent, { agent_id: agentId, revoked_at: revokedAt });
    },
    /** Revokes the credentials of agents of the organization that are linked with the account; returns their client_ids. */
    async revokeOfMember(organizationId: string, accountId: string, revokedAt: number): Promise<string[]> {
      const values = { organization_id: organizationId, account_id: accountId, revoked_at: revokedAt };
      const rows = await query<{ client_id: string }>(db, statements.revokeOfMember, values);
      return rows.map((row) => row.client_id);
    },
  };
}
