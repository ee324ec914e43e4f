import { type Queryable, statement, query } from '../queryable.ts';

/** A confidential client of one agent. */
export interface CredentialRow {
  client_id: string;
  agent_id: string;
  canonical_handle: string;
  /** What its people call it; may be empty. */
  name: string;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  scopes: string[];
  created_at: number;
  /** When a token was last issued for it. */
  last_used_at: number | null;
  revoked_at: number | null;
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
  c.last_used_at, c.revoked_at`;

/** A credential that asks for tokens all the time is noted as used once a minute. */
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
    'credentials.note_use',
    `update credentials set last_used_at = :now
     where client_id = :client_id and (last_used_at is null or last_used_at < :now::bigint - ${minUseIntervalMs})`,
  ),
  revoke: statement(
    'credentials.revoke',
    `update credentials set revoked_at = :revoked_at
     where client_id = :client_id and (:agent_id::text is null or agent_id = :agent_id) and revoked_at is null returning agent_id`,
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
    /** Whether nothing of this client_id was there before, so that it is there now. */
    async insert(credential: NewCredential): Promise<boolean> {
      const { client_id, agent_id, name, secret_hash, scopes, created_at } = credential;
      const values = { client_id, agent_id, name, secret_hash, scopes, created_at };
      return (await query(db, statements.insert, values)).length > 0;
    },
    /** How many of an agent may sign in. */
    async countActive(agentId: string): Promise<number> {
      return (
        (await query<{ count: number }>(db, statements.countActive, { agent_id: agentId }))[0]?.count ?? 0
      );
    },
    /** Also one that was revoked. */
    async findOfAgent(agentId: string, clientId: string): Promise<CredentialRow | undefined> {
      return (
        await query<CredentialRow>(db, statements.findOfAgent, { agent_id: agentId, client_id: clientId })
      )[0];
    },
    /** Of an agent, those that may sign in or those that were revoked, newest first, older than `before` if it names one. */
    page(
      agentId: string,
      only: { active: boolean; before: string | null; limit: number },
    ): Promise<CredentialRow[]> {
      return query<CredentialRow>(db, statements.page, {
        agent_id: agentId,
        active: only.active,
        before: only.before,
        limit: only.limit,
      });
    },
    /** A credential that may sign in: not revoked, and its agent not retired. */
    async findActive(clientId: string): Promise<CredentialRow | undefined> {
      return (await query<CredentialRow>(db, statements.findActive, { client_id: clientId }))[0];
    },
    /** Every credential of an agent, the revoked ones too, oldest first. */
    list(agentId: string): Promise<CredentialRow[]> {
      return query<CredentialRow>(db, statements.list, { agent_id: agentId });
    },
    /** Notes that a token was issued. */
    async recordUse(clientId: string, now: number): Promise<void> {
      await query(db, statements.recordUse, { client_id: clientId, now });
    },
    /** Whose it was, if it was there, of that agent if one is named, and not yet revoked. */
    async revoke(clientId: string, revokedAt: number, agentId: string | null): Promise<string | undefined> {
      const values = { client_id: clientId, revoked_at: revokedAt, agent_id: agentId };
      return (await query<{ agent_id: string }>(db, statements.revoke, values))[0]?.agent_id;
    },
    async revokeOfAgent(agentId: string, revokedAt: number): Promise<void> {
      await query(db, statements.revokeOfAgent, { agent_id: agentId, revoked_at: revokedAt });
    },
    /** Those of the organization's agents that are tied to the account; answers which. */
    async revokeOfMember(organizationId: string, accountId: string, revokedAt: number): Promise<string[]> {
      const values = { organization_id: organizationId, account_id: accountId, revoked_at: revokedAt };
      const rows = await query<{ client_id: string }>(db, statements.revokeOfMember, values);
      return rows.map((row) => row.client_id);
    },
  };
}
