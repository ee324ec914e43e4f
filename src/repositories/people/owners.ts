import { type Queryable, statement, query } from '../queryable.ts';

export interface OwnerRow {
  id: string;
  kind: 'account' | 'organization';
  name: string;
  created_at: number;
}

export type OrganizationRole = 'admin' | 'member';

/** An organization with the role of one of its members. */
interface Membership {
  id: string;
  name: string;
  role: OrganizationRole;
}

const statements = {
  find: statement('owners.find', 'select id, kind, name, created_at from owners where name = :name'),
  lock: statement('owners.lock', 'select from owners where id = :id for no key update'),
  setDisplayName: statement(
    'owners.set_display_name',
    'update owners set display_name = :display_name where id = :id',
  ),
  insertAccount: statement(
    'owners.insert_account',
    `with owner as (
       /* no version: it has no agents */
       insert into owners (id, kind, name, created_at) values (:id, 'account', :name, :created_at) returning *
     ), account as (insert into accounts (id, password_hash, invitation_id) select id, :password_hash, :invitation_id from owner)
     select id, kind, name, created_at from owner`,
  ),
  insertOrganization: statement(
    'owners.insert_organization',
    `/* no version: it has no agents */
     insert into owners (id, kind, name, created_at) values (:id, 'organization', :name, :created_at)
     returning id, kind, name, created_at`,
  ),
  putMember: statement(
    'owners.put_member',
    `insert into organization_members (organization_id, account_id, role, created_at) values (:organization_id, :account_id, :role, :now)
     on conflict (organization_id, account_id) do update set role = excluded.role`,
  ),
  findMember: statement(
    'owners.find_member',
    `select role from organization_members where organization_id = :organization_id and account_id = :account_id`,
  ),
  findMembership: statement(
    'owners.find_membership',
    `select o.id, o.name, m.role from organization_members m join owners o on o.id = m.organization_id
     where o.name = :organization and m.account_id = :account_id`,
  ),
  listMembers: statement(
    'owners.list_members',
    `select o.name as username, m.role, m.created_at from organization_members m join owners o on o.id = m.account_id
     where m.organization_id = :organization_id and o.name > :after order by o.name limit :limit`,
  ),
  removeMember: statement(
    'owners.remove_member',
    `delete from organization_members where organization_id = :organization_id and account_id = :account_id returning account_id`,
  ),
};

export function ownersRepository(db: Queryable) {
  return {
    async find(name: string): Promise<OwnerRow | undefined> {
      return (await query<OwnerRow>(db, statements.find, { name }))[0];
    },
    /** Locks an owner until the transaction ends. */
    async lock(id: string): Promise<void> {
      await query(db, statements.lock, { id });
    },
    /** Null: the name of the owner is shown. */
    async setDisplayName(id: string, displayName: string | null): Promise<void> {
      await query(db, statements.setDisplayName, { id, display_name: displayName });
    },
    insertAccount(account: {
      id: string;
      name: string;
      created_at: number;
      password_hash: string | null;
      /** The invitation that the person used. */
      invitation_id?: string | null;
    }): Promise<OwnerRow[]> {
      const { id, name, created_at, password_hash, invitation_id = null } = account;
      const values = { id, name, created_at, password_hash, invitation_id };
      return query<OwnerRow>(db, statements.insertAccount, values);
    },
    insertOrganization(organization: { id: string; name: string; created_at: number }): Promise<OwnerRow[]> {
      const { id, name, created_at } = organization;
      return query<OwnerRow>(db, statements.insertOrganization, { id, name, created_at });
    },
    /** Adds an account to an organization, or changes the role of a member. */
    async putMember(
      organizationId: string,
      accountId: string,
      role: OrganizationRole,
      now: number,
    ): Promise<void> {
      const values = { organization_id: organizationId, account_id: accountId, role, now };
      await query(db, statements.putMember, values);
    },
    async findMember(
      organizationId: string,
      accountId: string,
    ): Promise<{ role: OrganizationRole } | undefined> {
      const values = { organization_id: organizationId, account_id: accountId };
      return (await query<{ role: OrganizationRole }>(db, statements.findMember, values))[0];
    },
    /** The organization and the account's role in it; undefined when the account is not a member. */
    async findMembership(organization: string, accountId: string): Promise<Membership | undefined> {
      const values = { organization, account_id: accountId };
      return (await query<Membership>(db, statements.findMembership, values))[0];
    },
    /** Members by name, after the name `after`; all of them when the limit is null. */
    listMembers(organizationId: string, page: { after: string; limit: number | null }) {
      return query<{ username: string; role: OrganizationRole; created_at: number }>(
        db,
        statements.listMembers,
        { organization_id: organizationId, after: page.after, limit: page.limit },
      );
    },
    /** Returns false when the account is not a member. */
    async removeMember(organizationId: string, accountId: string): Promise<boolean> {
      const values = { organization_id: organizationId, account_id: accountId };
      return (await query(db, statements.removeMember, values)).length > 0;
    },
  };
}
