import { repository, sql } from '../sql.ts';
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

/** Invitations of accounts to organizations, at most one for each pair. Accepted, declined and revoked ones are removed. Times in ms. */
export const membershipInvitationsRepository = repository({
  /** Inserts an invitation, or replaces the one of this account. */
  put: sql.run<
    [
      invitation: {
        organization_id: string;
        account_id: string;
        role: OrganizationRole;
        invited_by: string | null;
        created_at: number;
        expires_at: number;
      },
    ]
  >(
    'membership_invitations.put',
    `insert into membership_invitations (organization_id, account_id, role, invited_by, created_at, expires_at)
       values (:organization_id, :account_id, :role, :invited_by, :created_at, :expires_at)
       on conflict (organization_id, account_id) do update set
         role = excluded.role, invited_by = excluded.invited_by, created_at = excluded.created_at, expires_at = excluded.expires_at`,
  ),
  /** Pending invitations to an organization, without that of this account. */
  countOthers: sql.value<[organizationId: string, accountId: string, now: number], number>(
    'membership_invitations.count_others(organization_id, account_id, now)',
    `select count(*)::int as count from membership_invitations
       where organization_id = :organization_id and account_id <> :account_id and expires_at > :now`,
  ),
  /** Those of an organization that have not expired, by username. */
  listOfOrganization: sql.rows<[organizationId: string, now: number], MembershipInvitationRow>(
    'membership_invitations.list_of_organization(organization_id, now)',
    `select ${columns} from membership_invitations i ${joins} where i.organization_id = :organization_id and i.expires_at > :now order by p.name`,
  ),
  /** Those of an account that have not expired, newest first. */
  listOfAccount: sql.rows<[accountId: string, now: number, limit: number], MembershipInvitationRow>(
    'membership_invitations.list_of_account(account_id, now, limit)',
    `select ${columns} from membership_invitations i ${joins} where i.account_id = :account_id and i.expires_at > :now
       order by i.created_at desc, o.name limit :limit`,
  ),
  /** Removes up to `limit` invitations that expired before `time`; returns how many. */
  removeExpired: sql.rowCount<[time: number, limit: number]>(
    'membership_invitations.remove_expired(time, limit)',
    `delete from membership_invitations where (organization_id, account_id) in
         (select organization_id, account_id from membership_invitations where expires_at < :time limit :limit)
       returning 1`,
  ),
  /** Removes an invitation and returns it, unless it has expired: only one caller gets it. */
  take: sql.row<[organizationId: string, accountId: string, now: number], { role: OrganizationRole }>(
    'membership_invitations.take(organization_id, account_id, now)',
    `with removed as (
         delete from membership_invitations where organization_id = :organization_id and account_id = :account_id returning role, expires_at
       )
       select role from removed where expires_at > :now`,
  ),
});
