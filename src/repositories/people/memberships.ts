import type { OrganizationRole } from './owners.ts';
import { repository, sql } from '../sql.ts';

/** An organization with a member's role in it. */
export interface MembershipRow {
  id: string;
  slug: string;
  /** Null while the admins have not chosen one. */
  display_name: string | null;
  role: OrganizationRole;
  created_at: number;
}

const columns = `o.id, o.name as slug, o.display_name, m.role, o.created_at`;

export const membershipsRepository = repository(
  {
    /** The organizations of an account, by name, after the name `after`. */
    list: sql.rows<[accountId: string, page: { after: string; limit: number }], MembershipRow>(
      'memberships.list(account_id, ...)',
      `select ${columns} from organization_members m join owners o on o.id = m.organization_id
       where m.account_id = :account_id and o.name > :after order by o.name limit :limit`,
    ),
    /** The number of organizations in which an account is an admin. */
    countAdministered: sql.value<[accountId: string], number>(
      'memberships.count_administered',
      `select count(*)::int as count from organization_members where account_id = :account_id and role = 'admin'`,
    ),
    /** The number of admins of an organization. */
    countAdmins: sql.value<[organizationId: string], number>(
      'memberships.count_admins',
      `select count(*)::int as count from organization_members where organization_id = :organization_id and role = 'admin'`,
    ),
    find: sql.row<[accountId: string, slug: string], MembershipRow>(
      'memberships.find(account_id, slug)',
      `select ${columns} from organization_members m join owners o on o.id = m.organization_id
       where m.account_id = :account_id and o.name = :slug`,
    ),
    lockOrganization: sql.run<[accountId: string, slug: string]>(
      'memberships.lock(account_id, slug)',
      `select 1 from organization_members m join owners o on o.id = m.organization_id
       where m.account_id = :account_id and o.name = :slug for no key update of o`,
    ),
  },
  (_db, { find, lockOrganization }) => ({
    /** As find, and locks the organization until the transaction ends, so that its members do not change. */
    async lock(accountId: string, slug: string): Promise<MembershipRow | undefined> {
      await lockOrganization(accountId, slug);
      // A statement of its own, which sees what was committed while the lock was awaited.
      return find(accountId, slug);
    },
  }),
);
