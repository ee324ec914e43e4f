import { type Queryable, statement, query } from '../queryable.ts';

export interface OwnerRow {
  id: string;
  kind: 'account' | 'organization';
  name: string;
  created_at: number;
}

export type OrganizationRole = 'admin' | 'member';

const statements = {
  find: statement('owners.find', 'select id, kind, name, created_at from owners where name = :name'),
  lock: statement('owners.lock', 'select from owners where id = :id for no key update'),
  insertAccount: statement(
    'owners.insert_account',
    `with owner as (
       insert into owners (id, kind, name, created_at) values (:id, 'account', :name, :created_at) returning *
     ), account as (insert into accounts (id, password_hash, invitation_id) select id, :password_hash, :invitation_id from owner)
     select id, kind, name, created_at from owner`,
  ),
  insertOrganization: statement(
    'owners.insert_organization',
    `insert into owners (id, kind, name, created_at) values (:id, 'organization', :name, :created_at)
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
    /** Holds an owner until the transaction ends. */
    async lock(id: string): Promise<void> {
      await query(db, statements.lock, { id });
    },
    insertAccount(account: {
      id: string;
      name: string;
      created_at: number;
      password_hash: string | null;
      /** What the person signed up with. */
      invitation_id?: string | null;
    }): Promise<OwnerRow[]> {
      const { id, name, created_at, password_hash, invitation_id = null } = account;
      return query<OwnerRow>(db, statements.insertAccount, {
        id,
        name,
        created_at,
        password_hash,
        invitation_id,
      });
    },
    insertOrganization(organization: { id: string; name: string; created_at: number }): Promise<OwnerRow[]> {
      const { id, name, created_at } = organization;
      return query<OwnerRow>(db, statements.insertOrganization, { id, name, created_at });
    },
    /** Makes an account a member of an organization, or gives the member another role. */
    async putMember(
      organizationId: string,
      accountId: string,
      role: OrganizationRole,
      now: number,
    ): Promise<void> {
      await query(db, statements.putMember, {
        organization_id: organizationId,
        account_id: accountId,
        role,
        now,
      });
    },
    async findMember(
      organizationId: string,
      accountId: string,
    ): Promise<{ role: OrganizationRole } | undefined> {
      return (
        await query<{ role: OrganizationRole }>(db, statements.findMember, {
          organization_id: organizationId,
          account_id: accountId,
        })
      )[0];
    },
    /** The organization of this name and the account's role in it, when it has one. */
    async findMembership(
      organization: string,
      accountId: string,
    ): Promise<{ id: string; name: string; role: OrganizationRole } | undefined> {
      return (
        await query<{ id: string; name: string; role: OrganizationRole }>(db, statements.findMembership, {
          organization,
          account_id: accountId,
        })
      )[0];
    },
    /** By name, behind the name `after`; all of them unless there is a limit. */
    listMembers(organizationId: string, page: { after: string; limit: number | null }) {
      return query<{ username: string; role: OrganizationRole; created_at: number }>(
        db,
        statements.listMembers,
        { organization_id: organizationId, after: page.after, limit: page.limit },
      );
    },
    /** Whether the account was a member. */
    async removeMember(organizationId: string, accountId: string): Promise<boolean> {
      return (
        (await query(db, statements.removeMember, { organization_id: organizationId, account_id: accountId }))
          .length > 0
      );
    },
  };
}
