import { type Queryable, statement } from '../queryable.ts';

export interface OwnerRow {
  id: string;
  kind: 'account' | 'organization';
  name: string;
  created_at: number;
}

export type OrganizationRole = 'admin' | 'member';

const statements = {
  find: statement('owners.find', 'select id, kind, name, created_at from owners where name = $1'),
  lock: statement('owners.lock', 'select from owners where id = $1 for no key update'),
  insertAccount: statement(
    'owners.insert_account',
    `with owner as (
       insert into owners (id, kind, name, created_at) values ($1, 'account', $2, $3) returning *
     ), account as (insert into accounts (id, password_hash, invitation_id) select id, $4, $5 from owner)
     select id, kind, name, created_at from owner`,
  ),
  insertOrganization: statement(
    'owners.insert_organization',
    `insert into owners (id, kind, name, created_at) values ($1, 'organization', $2, $3)
     returning id, kind, name, created_at`,
  ),
  putMember: statement(
    'owners.put_member',
    `insert into organization_members (organization_id, account_id, role, created_at) values ($1, $2, $3, $4)
     on conflict (organization_id, account_id) do update set role = excluded.role`,
  ),
  findMember: statement(
    'owners.find_member',
    `select role from organization_members where organization_id = $1 and account_id = $2`,
  ),
  findMembership: statement(
    'owners.find_membership',
    `select o.id, o.name, m.role from organization_members m join owners o on o.id = m.organization_id
     where o.name = $1 and m.account_id = $2`,
  ),
  listMembers: statement(
    'owners.list_members',
    `select o.name as username, m.role, m.created_at from organization_members m join owners o on o.id = m.account_id
     where m.organization_id = $1 and o.name > $2 order by o.name limit $3`,
  ),
  removeMember: statement(
    'owners.remove_member',
    `delete from organization_members where organization_id = $1 and account_id = $2 returning account_id`,
  ),
};

export function ownersRepository(db: Queryable) {
  return {
    async find(name: string): Promise<OwnerRow | undefined> {
      return (await db.query<OwnerRow>(statements.find, [name]))[0];
    },
    /** Holds an owner until the transaction ends. */
    async lock(id: string): Promise<void> {
      await db.query(statements.lock, [id]);
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
      return db.query<OwnerRow>(statements.insertAccount, [
        id,
        name,
        created_at,
        password_hash,
        invitation_id,
      ]);
    },
    insertOrganization(organization: { id: string; name: string; created_at: number }): Promise<OwnerRow[]> {
      const { id, name, created_at } = organization;
      return db.query<OwnerRow>(statements.insertOrganization, [id, name, created_at]);
    },
    /** Makes an account a member of an organization, or gives the member another role. */
    async putMember(
      organizationId: string,
      accountId: string,
      role: OrganizationRole,
      now: number,
    ): Promise<void> {
      await db.query(statements.putMember, [organizationId, accountId, role, now]);
    },
    async findMember(
      organizationId: string,
      accountId: string,
    ): Promise<{ role: OrganizationRole } | undefined> {
      return (
        await db.query<{ role: OrganizationRole }>(statements.findMember, [organizationId, accountId])
      )[0];
    },
    /** The organization of this name and the account's role in it, when it has one. */
    async findMembership(
      organization: string,
      accountId: string,
    ): Promise<{ id: string; name: string; role: OrganizationRole } | undefined> {
      return (
        await db.query<{ id: string; name: string; role: OrganizationRole }>(statements.findMembership, [
          organization,
          accountId,
        ])
      )[0];
    },
    /** By name, behind the name `after`; all of them unless there is a limit. */
    listMembers(organizationId: string, page: { after: string; limit: number | null }) {
      return db.query<{ username: string; role: OrganizationRole; created_at: number }>(
        statements.listMembers,
        [organizationId, page.after, page.limit],
      );
    },
    /** Whether the account was a member. */
    async removeMember(organizationId: string, accountId: string): Promise<boolean> {
      return (await db.query(statements.removeMember, [organizationId, accountId])).length > 0;
    },
  };
}
