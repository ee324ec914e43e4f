import { type Queryable, statement } from './queryable.ts';

export interface OwnerRow {
  id: string;
  kind: 'account' | 'organization';
  name: string;
  created_at: number;
}

export type OrganizationRole = 'admin' | 'member';

const statements = {
  find: statement('owners.find', 'select id, kind, name, created_at from owners where name = $1'),
  insertAccount: statement(
    'owners.insert_account',
    `with owner as (
       insert into owners (id, kind, name, created_at) values ($1, 'account', $2, $3) returning *
     ), account as (insert into accounts (id, password_hash) select id, $4 from owner)
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
};

export function ownersRepository(db: Queryable) {
  return {
    async find(name: string): Promise<OwnerRow | undefined> {
      return (await db.query<OwnerRow>(statements.find, [name]))[0];
    },
    insertAccount(account: {
      id: string;
      name: string;
      created_at: number;
      password_hash: string | null;
    }): Promise<OwnerRow[]> {
      const { id, name, created_at, password_hash } = account;
      return db.query<OwnerRow>(statements.insertAccount, [id, name, created_at, password_hash]);
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
  };
}
