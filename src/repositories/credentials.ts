import { type Queryable, statement } from './queryable.ts';

/** A confidential client of one agent. */
export interface CredentialRow {
  client_id: string;
  agent_id: string;
  canonical_handle: string;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  scopes: string[];
  created_at: number;
  revoked_at: number | null;
}

export interface NewCredential {
  client_id: string;
  agent_id: string;
  secret_hash: Buffer;
  scopes: readonly string[];
  created_at: number;
}

const columns = `c.client_id, c.agent_id, a.canonical_handle, c.secret_hash, c.scopes, c.created_at, c.revoked_at`;

const statements = {
  insert: statement(
    'credentials.insert',
    `insert into credentials (client_id, agent_id, secret_hash, scopes, created_at) values ($1, $2, $3, $4, $5)`,
  ),
  findActive: statement(
    'credentials.find_active',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id and a.retired_at is null
     where c.client_id = $1 and c.revoked_at is null`,
  ),
  list: statement(
    'credentials.list',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id
     where c.agent_id = $1 order by c.created_at, c.client_id`,
  ),
  revoke: statement(
    'credentials.revoke',
    `update credentials set revoked_at = $2 where client_id = $1 and revoked_at is null returning client_id`,
  ),
  revokeOfAgent: statement(
    'credentials.revoke_of_agent',
    `update credentials set revoked_at = $2 where agent_id = $1 and revoked_at is null`,
  ),
};

export function credentialsRepository(db: Queryable) {
  return {
    async insert(credential: NewCredential): Promise<void> {
      const { client_id, agent_id, secret_hash, scopes, created_at } = credential;
      await db.query(statements.insert, [client_id, agent_id, secret_hash, scopes, created_at]);
    },
    /** A credential that may sign in: not revoked, and its agent not retired. */
    async findActive(clientId: string): Promise<CredentialRow | undefined> {
      return (await db.query<CredentialRow>(statements.findActive, [clientId]))[0];
    },
    /** Every credential of an agent, the revoked ones too, oldest first. */
    list(agentId: string): Promise<CredentialRow[]> {
      return db.query<CredentialRow>(statements.list, [agentId]);
    },
    /** Whether it was there and not yet revoked. */
    async revoke(clientId: string, revokedAt: number): Promise<boolean> {
      return (await db.query(statements.revoke, [clientId, revokedAt])).length > 0;
    },
    async revokeOfAgent(agentId: string, revokedAt: number): Promise<void> {
      await db.query(statements.revokeOfAgent, [agentId, revokedAt]);
    },
  };
}
