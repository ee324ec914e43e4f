import { administeredByPerson } from '../agents/rights.ts';
import { repository, sql } from '../sql.ts';

/** An address by which another installation connects one of its agents with an agent here. Times are in milliseconds. */
export interface RemoteInvitationRow {
  id: string;
  agent_id: string;
  canonical_handle: string;
  created_at: number;
  expires_at: number;
}

/** What an invitation needs when it is redeemed. */
export interface LockedInvitationRow extends RemoteInvitationRow {
  /** The account; null: an operator. */
  created_by: string | null;
  /** The slug of the organization that owns the agent; null: a person owns it. */
  organization: string | null;
  /** Null: it was not redeemed. */
  redeemer_hash: Buffer | null;
  /** Encrypted. */
  token: Buffer | null;
}

const columns = `i.id, i.agent_id, a.canonical_handle, i.created_at, i.expires_at`;
const ofActive = `remote_invitations i join agents a on a.id = i.agent_id and a.retired_at is null`;

export const remoteInvitationsRepository = repository({
  insert: sql.run<
    [
      invitation: Omit<RemoteInvitationRow, 'canonical_handle'> & {
        created_by: string | null;
        secret_hash: Buffer;
      },
    ]
  >(
    'remote_invitations.insert',
    `insert into remote_invitations (id, agent_id, secret_hash, created_by, created_at, expires_at)
     values (:id, :agent_id, :secret_hash, :created_by, :created_at, :expires_at)`,
  ),
  /** Locks the invitation of a secret until the transaction ends. */
  lock: sql.row<[secretHash: Buffer], LockedInvitationRow>(
    'remote_invitations.lock(secret_hash)',
    `select ${columns}, i.created_by, case o.kind when 'organization' then o.name end as organization, i.redeemer_hash, i.token
     from ${ofActive} join owners o on o.id = a.owner_id where i.secret_hash = :secret_hash for update of i`,
  ),
  setRedeemed: sql.run<
    [redeemed: { id: string; redeemer_hash: Buffer; remote_id: string; token: Buffer; redeemed_at: number }]
  >(
    'remote_invitations.set_redeemed',
    `update remote_invitations set redeemer_hash = :redeemer_hash, remote_id = :remote_id, token = :token, redeemed_at = :redeemed_at where id = :id`,
  ),
  /** Those that were not redeemed, of the agents that a person owns or administers, newest first. */
  listOpenOfPerson: sql.rows<[accountId: string, now: number, limit: number], RemoteInvitationRow>(
    'remote_invitations.list_open_of_person(account_id, now, limit)',
    `select ${columns} from ${ofActive} where ${administeredByPerson(':account_id')} and i.redeemed_at is null and i.expires_at > :now
     order by i.id desc limit :limit`,
  ),
  /** Removes an invitation that was not redeemed. Returns the id of its agent; undefined if the person has no such invitation. */
  removeOfPerson: sql.value<[accountId: string, id: string], string | undefined>(
    'remote_invitations.remove_of_person(account_id, id)',
    `delete from remote_invitations i using agents a
     where i.id = :id and i.redeemed_at is null and a.id = i.agent_id and ${administeredByPerson(':account_id')} returning i.agent_id`,
  ),
  removeOfAgent: sql.run<[agentId: string]>(
    'remote_invitations.remove_of_agent',
    `delete from remote_invitations where agent_id = :agent_id`,
  ),
  removeExpired: sql.rowCount<[now: number, limit: number]>(
    'remote_invitations.remove_expired(now, limit)',
    `delete from remote_invitations where id in (select id from remote_invitations where expires_at <= :now limit :limit) returning 1`,
  ),
});
