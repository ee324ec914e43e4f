import { repository, sql } from '../sql.ts';

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

export const credentialsRepository = repository({
  /** Returns false, and inserts nothing, when the client_id exists. */
  insert: sql.hasRow<[credential: NewCredential]>(
    'credentials.insert',
    `insert into credentials (client_id, agent_id, name, secret_hash, scopes, created_at)
     values (:client_id, :agent_id, :name, :secret_hash, :scopes, :created_at) on conflict (client_id) do nothing returning client_id`,
  ),
  /** The number of an agent's credentials that are not revoked. */
  countActive: sql.value<[agentId: string], number>(
    'credentials.count_active',
    `select count(*)::int as count from credentials where agent_id = :agent_id and revoked_at is null`,
  ),
  /** Also finds a revoked credential. */
  findOfAgent: sql.row<[agentId: string, clientId: string], CredentialRow>(
    'credentials.find_of_agent(agent_id, client_id)',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id where c.agent_id = :agent_id and c.client_id = :client_id`,
  ),
  /** The active or the revoked credentials of an agent, newest first, older than the client_id `before` unless it is null. */
  page: sql.rows<
    [agentId: string, page: { active: boolean; before: string | null; limit: number }],
    CredentialRow
  >(
    'credentials.page(agent_id, ...)',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id
     where c.agent_id = :agent_id and (c.revoked_at is null) = :active and (:before::text is null or (c.created_at, c.client_id) <
       (select b.created_at, b.client_id from credentials b where b.client_id = :before and b.agent_id = :agent_id))
     order by c.created_at desc, c.client_id desc limit :limit`,
  ),
  /** A credential that is not revoked, of an agent that is not retired. */
  findActive: sql.row<[clientId: string], CredentialRow>(
    'credentials.find_active',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id and a.retired_at is null
     where c.client_id = :client_id and c.revoked_at is null`,
  ),
  /** All credentials of an agent, including revoked ones, oldest first. */
  list: sql.rows<[agentId: string], CredentialRow>(
    'credentials.list',
    `select ${columns} from credentials c join agents a on a.id = c.agent_id
     where c.agent_id = :agent_id order by c.created_at, c.client_id`,
  ),
  /** Records that a token was issued. */
  recordUse: sql.run<[clientId: string, now: number]>(
    'credentials.record_use(client_id, now)',
    `update credentials set last_used_at = :now
     where client_id = :client_id and (last_used_at is null or last_used_at < :now::bigint - ${minUseIntervalMs})`,
  ),
  /** Returns the id of its agent; undefined when there is no such active credential, or it is not of `agentId` unless that is null. */
  revoke: sql.value<[clientId: string, revokedAt: number, agentId: string | null], string | undefined>(
    'credentials.revoke(client_id, revoked_at, agent_id)',
    `update credentials set revoked_at = :revoked_at
     where client_id = :client_id and (:agent_id::text is null or agent_id = :agent_id) and revoked_at is null returning agent_id`,
  ),
  /**
   * Replaces the secret. Returns the id of the agent; undefined when there is no such active credential, it is of another agent, or it was
   * rotated meanwhile.
   */
  rotate: sql.value<[credentialRotation: CredentialRotation], string | undefined>(
    'credentials.rotate',
    `update credentials set secret_hash = :secret_hash, rotated_at = :now, previous_secret_until = :previous_secret_until::bigint,
       previous_secret_hash = case when :previous_secret_until::bigint is not null then secret_hash end
     where client_id = :client_id and (:agent_id::text is null or agent_id = :agent_id) and revoked_at is null
       and (:seen::bigint is null or coalesce(rotated_at, 0) = :seen) returning agent_id`,
    ({ seen, ...rotation }) => ({ ...rotation, seen: seen === undefined ? null : (seen ?? 0) }),
  ),
  /** Revokes all credentials of an agent. */
  revokeOfAgent: sql.run<[agentId: string, revokedAt: number]>(
    'credentials.revoke_of_agent(agent_id, revoked_at)',
    `update credentials set revoked_at = :revoked_at where agent_id = :agent_id and revoked_at is null`,
  ),
  /** Revokes the credentials of agents of the organization that are linked with the account; returns their client_ids. */
  revokeOfMember: sql.values<[organizationId: string, accountId: string, revokedAt: number], string>(
    'credentials.revoke_of_member(organization_id, account_id, revoked_at)',
    `update credentials c set revoked_at = :revoked_at from agents a
     where a.owner_id = :organization_id and a.member_account_id = :account_id and c.agent_id = a.id and c.revoked_at is null
     returning c.client_id`,
  ),
});
