import { type Queryable, statement, query } from '../queryable.ts';
import type { OrganizationRole } from './owners.ts';

/** A pending invitation, for the organization or for the invited person. */
export interface MembershipInvitationRow {
  slug: string;
  username: string;
  role: OrganizationRole;
  /** The username of the inviting person; null: an operator. */
  invited_by: string | null;
  created_at: number;
  expires_at: number;
}

const columns = `o.name as slug, p.name as username, i.role, b.name as invited_by, i.created_at, i.expires_at`;
const joins = `join owners o on o.id = i.organization_id join owners p on p.id = i.account_id left join owners b on b.id = i.invited_by`;

const statements = {
  put: statement(
    'membership_invitations.put',
    `insert into membership_invitations (organization_id, account_id, role, invited_by, created_at, expires_at)
     values (:organization_id, :account_id, :role, :invited_by, :created_at, :expires_at)
     on conflict (organization_id, account_id) do update set
       role = excluded.role, invited_by = excluded.invited_by, created_at = excluded.created_at, expires_at = excluded.expires_at`,
  ),
  countOthers: statement(
    'membership_invitations.count_others',
    `select count(*)::int as count from membership_invitations
     where organization_id = :organization_id and account_id <> :account_id and expires_at > :now`,
  ),
  listOfOrganization: statement(
    'membership_invitations.list_of_organization',
    `select ${columns} from membership_invitations i ${joins} where i.organization_id = :organization_id and i.expires_at > :now order by p.name`,
  ),
  listOfAccount: statement(
    'membership_invitations.list_of_account',
    `select ${columns} from membership_invitations i ${joins} where i.account_id = :account_id and i.expires_at > :now
     order by i.created_at desc, o.name limit :limit`,
  ),
  remove: statement(
    'membership_invitations.remove',
    `delete from membership_invitations where organization_id = :organization_id and account_id = :account_id returning role, expires_at`,
  ),
  removeExpired: statement(
    'membership_invitations.remove_expired',
    `delete from membership_invitations where (organization_id, account_id) in
       (select organization_id, account_id from membership_invitations where expires_at < :time limit :limit)
     returning 1`,
  ),
};

/** Invitations of accounts to organizations, at most one for each pair. Accepted, declined and revoked ones are removed. Times in ms. */
export function membershipInvitationsRepository(db: Queryable) {
  return {
    /** Inserts an invitation, or replaces the one of this account. */
    async put(invitation: {
      organization_id: string;
      account_id: string;
      role: OrganizationRole;
      invited_by: string | null;
      created_at: number;
      expires_at: number;
    }): Promise<void> {
      await query(db, statements.put, invitation);
    },
    /** Pending invitations to an organization, without that of this account. */
    async countOthers(organizationId: string, accountId: string, now: number): Promise<number> {
      const values = { organization_id: organizationId, account_id: accountId, now };
      return (await query<{ count: number }>(db, statements.countOthers, values))[0]?.count ?? 0;
    },
    /** Those of an organization that have not expired, by username. */
    listOfOrganization(organizationId: string, now: number): Promise<MembershipInvitationRow[]> {
      return query<MembershipInvitationRow>(db, statements.listOfOrganization, {
        organization_id: organizationId,
        now,
      });
    },
    /** Those of an account that have not expired, newest first. */
    listOfAccount(accountId: string, now: number, limit: number): Promise<MembershipInvitationRow[]> {
      return query<MembershipInvitationRow>(db, statements.listOfAccount, {
        account_id: accountId,
        now,
        limit,
      });
    },
    /** Removes an invitation and returns its role, unless it has expired: only one caller gets it. */
    async take(
      organizationId: string,
      accountId: string,
      now: number,
    ): Promise<{ role: OrganizationRole } | undefined> {
      const [row] = await query<{ role: OrganizationRole; expires_at: number }>(db, statements.remove, {
        organization_id: organizationId,
        account_id: accountId,
      });
      return row && row.expires_at > now ? { role: row.role } : undefined;
    },
    /** Removes up to `limit` invitations that expired before `time`; returns how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await query(db, statements.removeExpired, { time, limit })).length;
    },
  };
}
