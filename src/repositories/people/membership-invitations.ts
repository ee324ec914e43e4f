import { repository, sql } from '../sql.ts';
import type { OrganizationRole } from './owners.ts';

/** A pending invitation, for the organization or for the invited person. */
export interface MembershipInvitationRow {
  number: number;
  slug: string;
  /** Null: an invitation by link. */
  username: string | null;
  role: OrganizationRole;
  /** The username of the inviting person; null: an operator. */
  invited_by: string | null;
  created_at: number;
  expires_at: number;
}

/** An invitation by link, for the person who has it. */
export interface InvitationLinkRow extends MembershipInvitationRow {
  organization_id: string;
  /** Null while the admins have not chosen one. */
  display_name: string | null;
  /** Whether the person is a member already. */
  is_member: boolean;
}

const columns = `i.number, o.name as slug, p.name as username, i.role, b.name as invited_by, i.created_at, i.expires_at`;
const joins = `join owners o on o.id = i.organization_id left join owners p on p.id = i.account_id left join owners b on b.id = i.invited_by`;

/** An invitation that can be accepted: a link ends when its maker is no longer an admin. */
const isOpen = `i.expires_at > :now and (i.secret_hash is null or exists (
    select from organization_members m where m.organization_id = i.organization_id and m.account_id = i.invited_by and m.role = 'admin'))`;

/** Invitations to organizations: of accounts, at most one for each pair, and links. Accepted, declined and revoked ones are removed. Times in ms. */
export const membershipInvitationsRepository = repository({
  /** Inserts an invitation, or replaces the one of this account. Without an account it needs the hash of a link. */
  put: sql.run<
    [
      invitation: {
        organization_id: string;
        account_id: string | null;
        secret_hash?: Buffer;
        role: OrganizationRole;
        invited_by: string | null;
        created_at: number;
        expires_at: number;
      },
    ]
  >(
    'membership_invitations.put',
    `insert into membership_invitations (organization_id, account_id, secret_hash, role, invited_by, created_at, expires_at)
       values (:organization_id, :account_id, :secret_hash, :role, :invited_by, :created_at, :expires_at)
       on conflict (organization_id, account_id) do update set
         role = excluded.role, invited_by = excluded.invited_by, created_at = excluded.created_at, expires_at = excluded.expires_at`,
    (invitation) => ({ secret_hash: null, ...invitation }),
  ),
  /** Open invitations to an organization, without that of this account. Links count. */
  countOthers: sql.value<[organizationId: string, accountId: string, now: number], number>(
    'membership_invitations.count_others(organization_id, account_id, now)',
    `select count(*)::int as count from membership_invitations i
       where i.organization_id = :organization_id and (i.account_id is null or i.account_id <> :account_id) and ${isOpen}`,
  ),
  /** Those of an organization that are open, by username, then links. */
  listOfOrganization: sql.rows<[organizationId: string, now: number], MembershipInvitationRow>(
    'membership_invitations.list_of_organization(organization_id, now)',
    `select ${columns} from membership_invitations i ${joins} where i.organization_id = :organization_id and ${isOpen} order by p.name, i.number`,
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
    `delete from membership_invitations where number in
         (select number from membership_invitations where expires_at < :time limit :limit)
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
  /** The open invitation of a link, for this account. */
  findLink: sql.row<[secretHash: Buffer, accountId: string, now: number], InvitationLinkRow>(
    'membership_invitations.find_link(secret_hash, account_id, now)',
    `select ${columns}, o.id as organization_id, o.display_name, exists (
         select from organization_members m where m.organization_id = o.id and m.account_id = :account_id) as is_member
       from membership_invitations i ${joins} where i.secret_hash = :secret_hash and ${isOpen}`,
  ),
  /** Removes the open invitation of a link, and returns whether there was one: only one caller gets it. */
  takeLink: sql.hasRow<[organizationId: string, number: number, now: number]>(
    'membership_invitations.take_link(organization_id, number, now)',
    `delete from membership_invitations i
       where i.organization_id = :organization_id and i.number = :number and i.secret_hash is not null and ${isOpen} returning 1`,
  ),
});
