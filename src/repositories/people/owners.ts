import { repository, sql } from '../sql.ts';

export interface OwnerRow {
  id: string;
  kind: 'account' | 'organization';
  name: string;
  created_at: number;
}

export type OrganizationRole = 'admin' | 'member';

/** A member of an organization, since `created_at` (ms). */
export interface MemberRow {
  username: string;
  role: OrganizationRole;
  created_at: number;
}

export const ownersRepository = repository({
  find: sql.row<[name: string], OwnerRow>(
    'owners.find',
    'select id, kind, name, created_at from owners where name = :name',
  ),
  /** Locks an owner until the transaction ends. */
  lock: sql.run<[id: string]>('owners.lock', 'select from owners where id = :id for no key update'),
  /** Null: the name of the owner is shown. */
  setDisplayName: sql.run<[id: string, displayName: string | null]>(
    'owners.set_display_name(id, display_name)',
    'update owners set display_name = :display_name where id = :id',
  ),
  insertAccount: sql.rows<
    [
      account: {
        id: string;
        name: string;
        created_at: number;
        password_hash: string | null;
        /** The invitation that the person used. */
        invitation_id?: string | null;
      },
    ],
    OwnerRow
  >(
    'owners.insert_account',
    `with owner as (
       /* no version: it has no agents */
       insert into owners (id, kind, name, created_at) values (:id, 'account', :name, :created_at) returning *
     ), account as (insert into accounts (id, password_hash, invitation_id) select id, :password_hash, :invitation_id from owner)
     select id, kind, name, created_at from owner`,
    (account) => ({ invitation_id: null, ...account }),
  ),
  insertOrganization: sql.rows<[organization: { id: string; name: string; created_at: number }], OwnerRow>(
    'owners.insert_organization',
    `/* no version: it has no agents */
     insert into owners (id, kind, name, created_at) values (:id, 'organization', :name, :created_at)
     returning id, kind, name, created_at`,
  ),
  /** Adds an account to an organization, or changes the role of a member. */
  putMember: sql.run<[organizationId: string, accountId: string, role: OrganizationRole, now: number]>(
    'owners.put_member(organization_id, account_id, role, now)',
    `insert into organization_members (organization_id, account_id, role, created_at) values (:organization_id, :account_id, :role, :now)
     on conflict (organization_id, account_id) do update set role = excluded.role`,
  ),
  findMember: sql.row<[organizationId: string, accountId: string], { role: OrganizationRole }>(
    'owners.find_member(organization_id, account_id)',
    `select role from organization_members where organization_id = :organization_id and account_id = :account_id`,
  ),
  /** Members by name, after the name `after`; all of them when the limit is null. */
  listMembers: sql.rows<[organizationId: string, page: { after: string; limit: number | null }], MemberRow>(
    'owners.list_members(organization_id, ...)',
    `select o.name as username, m.role, m.created_at from organization_members m join owners o on o.id = m.account_id
     where m.organization_id = :organization_id and o.name > :after order by o.name limit :limit`,
  ),
  /** Returns false when the account is not a member. */
  removeMember: sql.hasRow<[organizationId: string, accountId: string]>(
    'owners.remove_member(organization_id, account_id)',
    `delete from organization_members where organization_id = :organization_id and account_id = :account_id returning account_id`,
  ),
});
